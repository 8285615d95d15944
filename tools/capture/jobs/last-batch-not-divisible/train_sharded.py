import sys
import numpy as np, jax, jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
jax.distributed.initialize(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), heartbeat_timeout_seconds=12)
mesh = Mesh(np.array(jax.devices()), ("data",))
sh = NamedSharding(mesh, P("data"))
print("mesh", mesh.shape, flush=True)
for step, n in enumerate([64, 64, 64, 27]):
    x = np.ones((n, 16), np.float32)
    y = jax.jit(lambda a: (a * 2).sum(), out_shardings=NamedSharding(mesh, P()))(jax.device_put(x, sh))
    print(f"step {step} batch {n} loss {float(y):.1f}", flush=True)
