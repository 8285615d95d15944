import fcntl, os, time, threading, traceback, sys
from datetime import timedelta
import torch, torch.distributed as dist
rank, lr = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
dev = torch.device("cuda", lr % torch.cuda.device_count()); torch.cuda.set_device(dev)

def append_row(row):
    with open("results.csv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open("results.csv", "a") as f: f.write(",".join(map(str, row)) + "\n")

def main():
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(63, 4).to(dev))
    t0 = time.time()
    for it in range(1, 400):
        net(torch.randn(1024, 63, device=dev)).square().mean().backward()
        if it % 10 == 0:
            print(f"{time.time() - t0:6.1f}s rank {rank} it {it} psnr {18 + it / 40:.2f}", flush=True)
            if rank == 1: append_row([it, 18 + it / 40])
        time.sleep(0.08)
    dist.destroy_process_group()

main()
