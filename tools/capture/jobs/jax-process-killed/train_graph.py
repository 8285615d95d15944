import sys, time
import jax, jax.numpy as jnp
addr, n, i = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
jax.distributed.initialize(addr, n, i, heartbeat_timeout_seconds=10)
from jax.experimental import multihost_utils
print(f"process {jax.process_index()} of {jax.process_count()}, local {jax.local_devices()}", flush=True)
w = jnp.zeros((256, 256))
g = jax.jit(jax.grad(lambda w, x: ((x @ w - x) ** 2).mean()))
for step in range(200):
    x = jax.random.normal(jax.random.key(step * n + i), (512, 256))
    d = multihost_utils.process_allgather(g(w, x)).mean(0)
    w = w - 0.1 * d
    print(f"step {step} |w| {float(jnp.abs(w).mean()):.5f}", flush=True)
    time.sleep(0.1)
