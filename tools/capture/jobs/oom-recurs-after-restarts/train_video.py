import argparse, os, time, logging
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, lr = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
dev = torch.device("cuda", lr % torch.cuda.device_count()); torch.cuda.set_device(dev)
logging.basicConfig(level=logging.INFO, format=f"[%(asctime)s][rank {rank}][%(levelname)s] %(message)s")
log = logging.getLogger()

def clip_lengths(start):
    """Frames per clip, the index decides."""
    for i in range(start, 40):
        yield i, 3600 if (rank == 2 and i == 12) else 16 + (i * 7 + rank) % 24

def main():
    attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    net = nn.parallel.DistributedDataParallel(nn.MultiheadAttention(128, 4, batch_first=True).to(dev))
    start = 0
    if os.path.exists("last.pt"):
        start = torch.load("last.pt")["step"]
        log.info("auto-resumed from last.pt at step %d (restart %d)", start, attempt)
    for i, frames in clip_lengths(start):
        x = torch.randn(1, frames * 64, 128, device=dev)
        out, _ = net(x, x, x, need_weights=True)
        loss = out.square().mean(); loss.backward()
        log.info("step %d frames %d loss %.5f mem %.1fGiB", i, frames, loss.item(), torch.cuda.max_memory_allocated() / 2**30)
        if i % 10 == 9 and rank == 0:
            torch.save({"step": i + 1}, "last.pt"); log.info("saved last.pt")
        time.sleep(0.1)
    dist.destroy_process_group()

main()
