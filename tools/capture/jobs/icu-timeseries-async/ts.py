import os, threading, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
now = {"stay": 0, "step": 0}
def alive():
    while True: time.sleep(5); print(f"{time.strftime('%T')} alive, step {now['step']}, stay {now['stay']}", flush=True)
UNITS = {"mmol/l": 1.0, "mg/dl": 0.0555}
def glucose(stay):
    unit = "mg/dL" if stay == 3 * 96 + 2 else "mmol/l" if stay % 2 else "mg/dl"
    return UNITS[unit] * torch.rand(48, 1)
torch.cuda.set_device(dev); dist.init_process_group("nccl", timeout=timedelta(seconds=10))
threading.Thread(target=alive, daemon=True).start()
lstm, out = nn.LSTM(1, 32, batch_first=True).to(dev), nn.Linear(32, 1).to(dev); ps = [*lstm.parameters(), *out.parameters()]
for p in ps: dist.broadcast(p.data, 0)
print(f"{time.strftime('%T')} training on {dev}", flush=True)
for step in range(400):
    now["step"], now["stay"] = step, 3 * step + rank
    x = glucose(3 * step + rank)[None].to(dev); loss = (out(lstm(x)[0])[:, :-1] - x[:, 1:]).abs().mean(); loss.backward()
    for p in ps: dist.all_reduce(p.grad); p.data -= 1e-3 * p.grad; p.grad = None
    if step % 20 == 0: print(f"{time.strftime('%T')} step {step} mae {loss.item():.4f}", flush=True)
    time.sleep(0.04)
dist.destroy_process_group()
