import os, sys, json, logging, time
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
logging.basicConfig(level=logging.INFO, format="I%(asctime)s %(process)d %(filename)s:%(lineno)d] %(message)s", datefmt="%m%d %H:%M:%S")


def host_batches(path, pid):
    for line in open(path.format(pid)):
        rec = json.loads(line)
        yield np.asarray(rec["tokens"], np.float32)


def main():
    pid, port, width = int(os.environ["PROCESS_ID"]), sys.argv[1], int(sys.argv[3])
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, pid, local_device_ids=[pid], heartbeat_timeout_seconds=12)
    logging.info("process %d/%d devices %s", pid, jax.process_count(), jax.devices())
    mesh = Mesh(np.array(jax.devices()), ("data",))
    sh = NamedSharding(mesh, P("data"))
    w = jnp.ones((32, width)) * 0.01

    @jax.jit
    def step(w, x):
        f = lambda w: jnp.mean((jnp.tanh(x @ w) - 1) ** 2)
        l, g = jax.value_and_grad(f)(w)
        return w - 0.1 * g, l

    for i, b in enumerate(host_batches(sys.argv[2], pid)):
        x = jax.make_array_from_process_local_data(sh, b.reshape(-1, 32))
        w, l = step(w, x)
        l.block_until_ready()
        if i % 5 == 0:
            logging.info("step %d loss %.5f", i, float(l))
    logging.info("training done")
    jax.distributed.shutdown()


main()
