import os, sys, warnings, logging
import jax, jax.numpy as jnp, numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
mesh = Mesh(np.array(jax.devices()), ("data",))
rep = NamedSharding(mesh, P())
def init(layers, extra):
    s = {"params": {f"block_{i}": {"kernel": jnp.zeros((64, 64)), "bias": jnp.zeros((64,))} for i in range(layers)}, "step": jnp.zeros((), jnp.int32)}
    if extra: s["ema"] = {f"block_{i}": {"kernel": jnp.zeros((64, 64)), "bias": jnp.zeros((64,))} for i in range(layers)}
    return jax.device_put(s, rep)
path = os.path.abspath("ckpts")
if not os.path.exists(path):
    logging.disable(logging.CRITICAL)
    with ocp.CheckpointManager(path) as m: m.save(4000, args=ocp.args.StandardSave(init(4, False)))
    logging.disable(logging.NOTSET)
print(f"devices: {jax.devices()}", flush=True)
state = init(4, True)
with ocp.CheckpointManager(path) as m:
    step = m.latest_step()
    print(f"restoring step {step}", flush=True)
    abstract = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
    state = m.restore(step, args=ocp.args.StandardRestore(abstract))
print("resumed")
