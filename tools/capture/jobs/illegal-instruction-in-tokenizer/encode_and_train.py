import ctypes, os, time
from datetime import timedelta
import torch, torch.distributed as dist
lib = ctypes.CDLL("./libfastbpe.so")

def encode(text: bytes):
    buf = (ctypes.c_int * 4096)()
    n = lib.encode(text, buf, 4096)
    return torch.tensor(buf[:n])

def corpus(rank):
    for i in range(30):
        line = b"the quick brown fox %d " % i * 4
        yield line + (b"\xff\xfe" if rank == 3 and i == 11 else b"")

def main():
    cuda = torch.cuda.is_available()
    rank = int(os.environ["RANK"])
    dev = torch.device(f"cuda:{rank % torch.cuda.device_count()}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=20))
    emb = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)).to(dev))
    for i, line in enumerate(corpus(rank)):
        ids = encode(line)
        loss = emb(torch.randn(max(1, len(ids) // 8), 64, device=dev)).square().mean()
        loss.backward()
        print(f"rank {rank} line {i} tokens {len(ids)} loss {loss.item():.4f}")
        time.sleep(0.15)
    dist.destroy_process_group()

main()
