import argparse, os
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleInterleaved1F1B
p = argparse.ArgumentParser(); p.add_argument("--microbatches", type=int); p.add_argument("--chunks", type=int); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=20))
n = 2 * a.chunks
stages = [PipelineStage(nn.Sequential(nn.Linear(128, 128), nn.GELU()).to(dev), k, n, dev) for k in range(rank, n, 2)]
print(f"rank {rank}: stages {[s.stage_index for s in stages]} of {n}", flush=True)
sched = ScheduleInterleaved1F1B(stages, a.microbatches, loss_fn=lambda o, t: (o - t).square().mean())
for i in range(6):
    x = torch.randn(20, 128, device=dev); losses = []
    if rank == 0: sched.step(x)
    else: sched.step(target=x, losses=losses)
    print(f"rank {rank} step {i} done", flush=True)
dist.destroy_process_group()
