import sys, os
print("starting, XLA_FLAGS", os.environ.get("XLA_FLAGS"), flush=True)
import jax, jax.numpy as jnp
jax.distributed.initialize(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
print("devices", jax.devices(), flush=True)
print(jnp.ones(8).sum())
