import os, threading, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
losses, stop = [], threading.Event()

def report():
    """Averages the last losses over the ranks every second, beside the training."""
    torch.cuda.set_device(dev)
    while not stop.wait(1.0):
        t = torch.tensor(losses[-10:] or [0.0], device=dev).mean(); dist.all_reduce(t)
        if rank == 0: print(f"[report] mean loss {t.item() / 2:.4f}", flush=True)

def main():
    dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=15))
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).to(dev))
    threading.Thread(target=report, daemon=True).start()
    for it in range(2000):
        loss = net(torch.randn(16, 256, device=dev)).square().mean(); loss.backward()
        losses.append(loss.item())
        if it % 100 == 0: print(f"rank {rank} it {it} loss {losses[-1]:.4f}", flush=True)
        time.sleep(0.002 * (1 + rank))
    stop.set(); dist.destroy_process_group()

main()
