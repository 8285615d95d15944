import atexit, os, sys, threading, time, urllib.request
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
class Writer:
    def __init__(self): self.f = open(f"events.{os.environ['RANK']}", "w")
    def __del__(self): self.f.close(); raise ConnectionResetError(104, "Connection reset by peer")
def goodbye(): urllib.request.urlopen("http://127.0.0.1:9/close", timeout=1)
atexit.register(goodbye)
def upload():
    time.sleep(3); raise BrokenPipeError(32, "Broken pipe")
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=25)); rank = dist.get_rank(); writer = Writer()
if rank == 0: threading.Thread(target=upload, name="preview-upload").start()
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.SiLU(), nn.Conv2d(16, 6, 3, 2)).to(dev)); opt = torch.optim.SGD(net.parameters(), 1e-2)
for e in range(1, 9):
    for i in range(15):
        loss = net(torch.rand(4, 3, 64, 64, device=dev)).square().mean(); opt.zero_grad(); loss.backward(); opt.step(); time.sleep(0.03)
    if rank == 0: print(f"      {e}/8      {torch.cuda.memory_allocated() / 1e9:.2f}G   box {loss.item():.4f}   {'━' * e}{'─' * (8 - e)} 15/15", flush=True)
dist.barrier()
if rank == 0: torch.save(net.module.state_dict(), "best.pt"); print("8 epochs completed, results saved to runs/detect/train", flush=True)
