import argparse, os, time
from datetime import timedelta
import torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--tasks", type=int); a = p.parse_args()
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), world, is_master=rank == 0, timeout=timedelta(seconds=30))
print(f"worker {rank} joined, {a.tasks} tasks in the queue", flush=True)
n = 0
while True:
    i = store.add("next_task", 1) - 1
    if i >= a.tasks: break
    time.sleep(0.5 if i != 6 else 8)
    n += 1
    store.set(f"result/{i}", f"{0.5 + i / 40:.3f}")
    print(f"worker {rank}: task {i} acc {0.5 + i / 40:.3f}", flush=True)
print(f"worker {rank}: queue is empty, did {n} tasks", flush=True)
if rank == 0:
    have = [i for i in range(a.tasks) if store.check([f"result/{i}"])]
    print(f"mean of {len(have)} results: {sum(float(store.get(f'result/{i}')) for i in have) / len(have):.4f}", flush=True)
