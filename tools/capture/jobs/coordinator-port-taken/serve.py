import sys, jax, jax.numpy as jnp
print(f"process {sys.argv[3]} connecting to coordinator {sys.argv[1]}", flush=True)
jax.distributed.initialize(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), initialization_timeout=20)
print("ready", jax.devices(), flush=True)
