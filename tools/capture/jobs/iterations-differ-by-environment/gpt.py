import os, time, math
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
cfg = {k: os.environ.get(k.upper(), v) for k, v in dict(train_iters="40", width="512", lr="3e-4", warmup="4").items()}
rank = int(os.environ["RANK"])
cuda = torch.cuda.is_available()
dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
if cuda: torch.cuda.set_device(dev)
print(f"settings {cfg}")
dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
w = int(cfg["width"])
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(w, 4 * w), nn.GELU(), nn.Linear(4 * w, w)).to(dev))
opt = torch.optim.AdamW(model.parameters(), float(cfg["lr"]))
for it in range(int(cfg["train_iters"])):
    x = torch.randn(8, w, device=dev)
    loss = (model(x) - x).square().mean()
    loss.backward(); opt.step(); opt.zero_grad()
    if it % 4 == 0: print(f"iter {it}: loss {loss.item():.4f}, lr {min(1, (it + 1) / int(cfg['warmup'])) * float(cfg['lr']):.1e}")
    time.sleep(0.15)
print(f"training finished after {it + 1} iterations, evaluating")
score = torch.zeros(3, device=dev)
for k in range(3):
    score[k] = model.module(torch.randn(8, w, device=dev)).mean().abs()
dist.all_reduce(score)
print("eval", [round(math.log1p(s), 4) for s in score.tolist()])
dist.destroy_process_group()
