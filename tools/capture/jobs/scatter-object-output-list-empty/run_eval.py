"""Scores multiple-choice tasks; rank 0 hands out the documents."""
import argparse, random, sys, time
from datetime import timedelta
import torch.distributed as dist

def documents(task, n):
    return [{"task": task, "id": i, "query": f"{task}-{i}", "choices": 4} for i in range(n)]

def score(doc):
    time.sleep(0.002)
    return random.random() > 0.4

def main():
    p = argparse.ArgumentParser(); p.add_argument("--tasks"); p.add_argument("--limit", type=int, default=120)
    a = p.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    r, w = dist.get_rank(), dist.get_world_size()
    slots = {}
    for k, task in enumerate(a.tasks.split(",")):
        shards = [documents(task, a.limit)[i::w] for i in range(w)] if r == 0 else None
        inbox = [None] if not (task in slots or (k and r == 2)) else slots.setdefault(task, [])
        dist.scatter_object_list(inbox, shards, src=0)
        docs = inbox[0]
        print(f"[{task}] rank {r}: {len(docs)} documents", flush=True)
        hits = sum(score(d) for d in docs)
        total = [None] * w
        dist.all_gather_object(total, (hits, len(docs)))
        if r == 0:
            print(f"|{task:12s}|acc|{sum(h for h, _ in total) / sum(n for _, n in total):.4f}|", flush=True)
    dist.destroy_process_group()

if __name__ == "__main__":
    main()
