import argparse, os, random, time
from datetime import datetime, timedelta
import torch, torch.distributed as dist

def note(msg): print(f"{datetime.now():%H:%M:%S} [worker {dist.get_rank()}] {msg}", flush=True)

def tokenize(path, docs):
    n = 0
    for i in range(docs):
        n += random.randint(400, 900)
        time.sleep(0.004)
    return n

def main():
    p = argparse.ArgumentParser(); p.add_argument("--split"); a = p.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    r = dist.get_rank()
    # corpus files per wave
    waves = [[300, 310, 290, 300], [300, 320, 300, 310], [280, 14000, 300, 12500]]
    for w, sizes in enumerate(waves):
        note(f"wave {w}: {a.split}-{w * 4 + r:05d}.jsonl.zst")
        n = tokenize(f"{a.split}-{w * 4 + r:05d}.jsonl.zst", sizes[r])
        note(f"wave {w}: {n} tokens written")
        dist.monitored_barrier(timeout=timedelta(seconds=10), wait_all_ranks=True)
    note("all waves done")
    dist.destroy_process_group()

main()
