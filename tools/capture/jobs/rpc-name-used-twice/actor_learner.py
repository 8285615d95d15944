import os, time
import torch
from torch.distributed import rpc
rank = int(os.environ["RANK"])
name = "learner" if rank == 0 else f"actor{os.environ['ACTOR_INDEX'] if rank == 2 else 1}"
print(f"starting {name} (process {rank} of {os.environ['WORLD_SIZE']})", flush=True)
rpc.init_rpc(name, rank=rank, world_size=3, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(rpc_timeout=10))
print("rpc is up", flush=True)
if rank == 0:
    for step in range(20):
        x = rpc.rpc_sync(f"actor{step % 2}", torch.randn, args=(4, 4)); print("learner step", step, x.mean().item(), flush=True)
rpc.shutdown()
