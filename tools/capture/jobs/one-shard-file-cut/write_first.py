import torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard
dist.init_process_group("gloo")
m = init_device_mesh("cpu", (4,))
dcp.save({"model": {f"blocks.{i}.w": distribute_tensor(torch.randn(256, 64), m, [Shard(0)]) for i in range(4)}}, checkpoint_id="ckpts/step_2000")
dist.destroy_process_group()
