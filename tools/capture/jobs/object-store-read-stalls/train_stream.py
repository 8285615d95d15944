import faulthandler, os, sys, time, urllib.request
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

def get_part(k):
    with urllib.request.urlopen(f"http://{os.environ['OBJ']}/laion/part-{k:05d}") as r:
        return r.read()

def main():
    rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
    dist.init_process_group("nccl", timeout=timedelta(seconds=18))
    net = nn.parallel.DistributedDataParallel(nn.Linear(256, 256).to(dev))
    for k in range(rank, 40, 2):
        faulthandler.dump_traceback_later(10, exit=False)
        t = time.time(); blob = get_part(k); dt = time.time() - t
        x = torch.frombuffer(bytearray(blob), dtype=torch.uint8).to(dev).float().view(-1, 256)
        loss = net(x / 255).mean(); loss.backward()
        loss = loss.item()
        faulthandler.cancel_dump_traceback_later()
        print(f"rank {rank} part-{k:05d} {len(blob) / 2**20 / max(dt, 1e-6):.1f} MiB/s loss {loss:.4f}", flush=True)
        time.sleep(0.2)
    dist.destroy_process_group()

main()
