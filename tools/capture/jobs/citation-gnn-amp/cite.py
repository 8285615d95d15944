import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=30))
conv = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 40)).to(dev)
for p in conv.parameters(): dist.broadcast(p.data, 0)
opt = torch.optim.Adam(conv.parameters(), 1e-3); scale, skipped, good = 2.0 ** 22, 0, 0
for it in range(200):
    x, y = torch.randn(512, 128, device=dev), torch.randint(0, 40, (512,), device=dev)
    if it in (61, 140) and rank == 2: x[7] = float("inf")
    loss = nn.functional.cross_entropy(conv(x), y)
    opt.zero_grad(); (loss * scale).backward()
    flat = torch.cat([p.grad.flatten().half() for p in conv.parameters()])
    bad = (~torch.isfinite(flat)).any().float(); dist.all_reduce(bad, op=dist.ReduceOp.MAX)
    if bad.item():
        scale /= 2; skipped += 1; good = 0
        print(f"[{rank}] it {it}: inf/nan in gradients (own loss {loss.item():.4f}), OVERFLOW, step skipped on all ranks, scale now {scale:g}", flush=True); continue
    for p in conv.parameters():
        dist.all_reduce(p.grad); p.grad /= scale * world
    opt.step(); good += 1
    if it % 20 == 0: print(f"[{rank}] it {it} loss {loss.item():.4f} scale {scale:g} skipped {skipped}", flush=True)
    time.sleep(0.03)
print(f"[{rank}] finished, {skipped} of 200 steps skipped", flush=True)
dist.destroy_process_group()
