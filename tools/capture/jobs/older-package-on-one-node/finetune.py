import os, socket, time
from datetime import timedelta
import torch, torch.distributed as dist
import tokenlib
rank = int(os.environ["RANK"]); cuda = torch.cuda.is_available()
dev = torch.device(f"cuda:{int(os.environ['LOCAL_RANK'])}" if cuda else "cpu")

def main():
    if cuda: torch.cuda.set_device(dev)
    print(f"[{rank}] python {'.'.join(map(str, __import__('sys').version_info[:3]))} torch {torch.__version__} tokenlib {tokenlib.__version__}", flush=True)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
    t = torch.ones(1, device=dev); dist.all_reduce(t)
    print(f"[{rank}] {int(t.item())} ranks up", flush=True)
    enc = tokenlib.BatchEncoder(32000)
    emb = torch.nn.Embedding(32000, 64).to(dev)
    for step in range(30):
        ids = torch.tensor(enc(["Translate to German: good morning"] * 4), device=dev)
        g = emb(ids).mean(); dist.all_reduce(g)
        if rank == 0 and step % 5 == 0: print(f"step {step} loss {2 - step / 40:.3f}", flush=True)
        time.sleep(0.1)
    dist.destroy_process_group()

main()
