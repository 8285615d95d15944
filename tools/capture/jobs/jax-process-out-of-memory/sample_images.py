import argparse, time
import jax, jax.numpy as jnp
p = argparse.ArgumentParser(); p.add_argument("--coordinator"); p.add_argument("--num", type=int); p.add_argument("--id", type=int); a = p.parse_args()
jax.distributed.initialize(a.coordinator, a.num, a.id, heartbeat_timeout_seconds=15)
print(f"process {jax.process_index()} of {jax.process_count()}, local devices {jax.local_devices()}", flush=True)
from jax.experimental import multihost_utils as mh
@jax.jit
def denoise(x): return jnp.tanh(x @ jnp.ones((x.shape[-1], x.shape[-1]), x.dtype)) * 0.5 + x
sizes = [64, 64, 128, 128, 64]
if a.id == 1: sizes[3] = 1_400_000
for k, n in enumerate(sizes):
    x = denoise(jax.random.normal(jax.random.key(k), (n, 65536 if n > 1000 else 256)))
    s = mh.process_allgather(jnp.float32(x[:8, :8].mean()))
    print(f"batch {k}: {n} images, mean {s}", flush=True)
    time.sleep(0.5)
print("sampling finished", flush=True)
