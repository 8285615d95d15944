import sys, time
import jax, jax.numpy as jnp
jax.distributed.initialize(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
from jax.experimental import multihost_utils as mh
@jax.jit
def f(w, x): return jnp.tanh(x @ w).mean()
w = jnp.ones((128, 128))
for s in range(20):
    g = jax.grad(f)(w, jnp.ones((8, 128)) * s); w = w - 0.1 * g
    n = mh.process_allgather(jnp.linalg.norm(g))
    if jax.process_index() == 0 and s % 4 == 0: print(f"I train.py:88] step {s} loss {2 - s * 0.01:.3f} gnorm {n}", flush=True)
print("I train.py:102] done, saving nothing", flush=True)
