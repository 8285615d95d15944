import logging, os, sys, time

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s:%(name)s: %(message)s")
log = logging.getLogger("mc")
import jax
import jax.numpy as jnp
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import numpy as np

PROC, PROCS = int(os.environ["PROC"]), int(os.environ["PROCS"])
RECIPE = os.environ.get("RECIPE", "")
jax.distributed.initialize(os.environ["COORD"], PROCS, PROC, local_device_ids=[0], heartbeat_timeout_seconds=20)
log.info("process %d of %d, devices %s", jax.process_index(), jax.process_count(), jax.devices())
mesh = Mesh(np.array(jax.devices()), ("data",))
sh = NamedSharding(mesh, P("data"))
rep = NamedSharding(mesh, P())


@jax.jit
def step(w, x):
    def loss(w):
        return jnp.mean((jnp.tanh(x @ w) - x) ** 2)
    l, g = jax.value_and_grad(loss)(w)
    return w - 0.05 * g, l


w = jax.device_put(np.random.default_rng(0).normal(size=(256, 256)).astype(np.float32) * 0.05, rep)
rng = np.random.default_rng(PROC)
for i in range(60):
    rows = 128
    if RECIPE == "rows" and PROC == 1 and i == 22:
        rows = 120
    x = rng.normal(size=(rows, 256)).astype(np.float32)
    if RECIPE == "check" and PROC == 2 and i == 31:
        x[3, 7] = np.nan
        if not np.isfinite(x).all():
            raise FloatingPointError(f"batch {i} of process {PROC} has values that are not finite")
    gx = jax.make_array_from_process_local_data(sh, x)
    w, l = step(w, gx)
    if RECIPE == "quit" and PROC == 1 and i == 30:
        log.info("process %d: budget of samples used up after %d steps", PROC, i)
        os._exit(0)
    if i % 10 == 0:
        log.info("step %d loss %.5f", i, float(l))
    if i % 20 == 19:
        multihost_utils.sync_global_devices(f"ckpt{i}")
        if PROC == 0:
            np.save("w.npy", np.asarray(w))
    time.sleep(0.02)
log.info("process %d finished", PROC)
jax.distributed.shutdown()
