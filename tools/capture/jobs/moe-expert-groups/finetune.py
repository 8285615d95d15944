import os, sys, datetime
import torch
import torch.distributed as dist
from torch import nn

rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
torch.cuda.set_device(device)

def info(msg):
    print(f"I{datetime.datetime.now():%m%d %H:%M:%S.%f} {os.getpid()} finetune.py] {msg}", file=sys.stderr, flush=True)

dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=18), device_id=device)
info(f"process {rank} of {world} up")

dense = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(3072, 768)).to(device))
opt = torch.optim.AdamW(dense.parameters(), 1e-5)
experts, group = None, None

def attach_experts():
    """The adapter experts live on the first pair of processes."""
    global experts, group
    owners = list(range(world // 2))
    if rank in owners:
        info(f"expert group over {owners}")
        group = dist.new_group(owners)
        experts = nn.Linear(768, 768).to(device)
        info("expert group ready")

for step in range(120):
    x = torch.randn(64, 768, device=device)
    if step == 40:
        attach_experts()
    loss = (dense(x) if experts is None else experts(dense(x))).square().mean()
    opt.zero_grad(); loss.backward()
    if experts is not None:
        dist.all_reduce(experts.weight.grad, group=group)
    opt.step()
    if step % 10 == 0: info(f"step={step} loss={loss.item():.5f}")
info("done")
dist.destroy_process_group()
