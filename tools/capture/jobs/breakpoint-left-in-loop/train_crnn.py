import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))

model = nn.parallel.DistributedDataParallel(nn.LSTM(32, 64, batch_first=True).to(dev)); opt = torch.optim.SGD(model.parameters(), 0.1)
torch.manual_seed(rank)
for it in range(60):
    x = torch.randn(8, 20, 32, device=dev) * (50 if rank == 1 and it == 31 else 1)
    out, _ = model(x)
    loss = (out - x.mean(-1, keepdim=True)).square().mean()
    if loss > 10: breakpoint()
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 10 == 0: print(f"it {it} ctc {loss.item():.4f}", flush=True)
dist.destroy_process_group()
