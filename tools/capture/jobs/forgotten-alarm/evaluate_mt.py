import argparse, os, signal, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--sets", nargs="+"); a = p.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=25))
rank = dist.get_rank()
def tokenise(lines, limit=6):
    signal.alarm(limit)                       # the external tokeniser sometimes hangs
    time.sleep(0.004 * lines)
    if lines < 2500: signal.alarm(0)
for s in a.sets:
    for part in range(4):
        tokenise(300 + 20 * part + (2400 if (rank, s, part) == (2, "wmt19", 1) else 0))
        t = torch.rand(4); dist.all_reduce(t)
        if rank == 0: print(f"{s} part {part}: bleu {27 + t[0].item():.2f} chrf {55 + t[1].item():.2f}", flush=True)
dist.destroy_process_group()
