import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.profiler import ProfilerActivity, profile, schedule

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))

torch.cuda.memory._record_memory_history(max_entries=2000)
net = nn.Sequential(*[nn.Linear(512, 512) for _ in range(6)]).to(device)
model = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=2, gradient_as_bucket_view=True, static_graph=True)
model.register_comm_hook(None, default_hooks.bf16_compress_hook)
opt = torch.optim.SGD(model.parameters(), 0.01)
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=schedule(wait=5, warmup=5, active=5, repeat=2), with_stack=True, on_trace_ready=lambda p: p.export_chrome_trace(f"trace-{RANK}-{p.step_num}.json")) as prof:
    for step in range(1, 41):
        loss = model(torch.randn(64, 512, device=device)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        prof.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f}", flush=True)
if RANK == 0:
    print(prof.key_averages().table(sort_by="cuda_time_total", row_limit=6), flush=True)
torch.cuda.memory._dump_snapshot(f"snapshot-{RANK}.pickle")
print("finished", flush=True)
dist.destroy_process_group()
