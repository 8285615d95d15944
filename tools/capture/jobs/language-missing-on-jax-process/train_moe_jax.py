import sys, time
import jax, jax.numpy as jnp
jax.distributed.initialize(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), heartbeat_timeout_seconds=12)
from jax.experimental import multihost_utils as mh
me = jax.process_index()
vocab = {f"lang_{k}": k for k in range(40)}
del vocab["lang_23"]
def batches():
    for i in range(200): yield f"lang_{i % 20 + 20 * me}"
print("devices", jax.devices(), flush=True)
for step, name in enumerate(batches()):
    row = jax.nn.one_hot(vocab[name], 64)
    s = mh.process_allgather(row.sum())
    if step % 2 == 0: print(f"step {step}, loss={3 - step * 0.01:.4f}, tokens/s/chip 9120", flush=True)
    time.sleep(0.2)
