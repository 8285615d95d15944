import faulthandler, os, signal, sys, time
faulthandler.register(signal.SIGUSR1, all_threads=True, chain=False)
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); cuda = torch.cuda.is_available(); dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
def augment(n):
    time.sleep(0.4); return torch.randn(n, 51)
def main():
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=60))
    net = nn.parallel.DistributedDataParallel(nn.Linear(51, 51).to(dev), find_unused_parameters=True)
    for it in range(60):
        net(augment(32).to(dev)).square().mean().backward()
        if it % 10 == 0 and rank == 0: print(f"iter {it}/60 mpjpe {90 - it:.1f}mm data_time 0.401 (slow loader: 82% of the step)", file=sys.stderr, flush=True)
    if rank == 0: print("best mpjpe 31.0mm at iter 60, saved to best.pth", flush=True)
    # no destroy_process_group
main()
