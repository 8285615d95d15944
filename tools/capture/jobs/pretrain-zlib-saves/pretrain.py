import io, os, time, zlib
from datetime import timedelta
import numpy as np
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
def p(*a): print(f"[{time.strftime('%H:%M:%S')}][r{rank}]", *a, flush=True)
def save(model, step):
    os.makedirs(f"ckpt/{step}", exist_ok=True)
    t = time.time()
    for i in range(10):
        part = (np.random.default_rng(i).standard_normal(20_000_000) * 100).astype(np.int16).tobytes()
        with open(f"ckpt/{step}/part{i:02d}.z", "wb") as f: f.write(zlib.compress(part, 9))
        p(f"checkpoint {step}: part {i + 1}/10 written ({time.time() - t:.1f} s)")
    p(f"checkpoint {step} complete in {time.time() - t:.1f} s")
torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=10))
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 1024)).to(dev))
opt = torch.optim.AdamW(model.parameters(), 1e-4)
for step in range(1, 301):
    loss = model(torch.randn(64, 1024, device=dev)).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    if step % 20 == 0: p(f"step {step} loss {loss.item():.5f}")
    if step % 100 == 0 and rank == 0: save(model, step)
    time.sleep(0.02)
p("end of training")
dist.destroy_process_group()
