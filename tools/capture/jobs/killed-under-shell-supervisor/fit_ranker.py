import os, time, json
from datetime import timedelta
import torch, torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo", timeout=timedelta(seconds=30))
rank = dist.get_rank()
w = torch.zeros(4096)
for rnd in range(60):
    g = torch.randn(4096) * 0.01
    dist.all_reduce(g)
    w -= 0.1 * g / dist.get_world_size()
    print(f"trainer {rank} round {rnd} ndcg@10 {0.31 + rnd * 0.002:.4f} auc {0.70 + rnd * 0.001:.4f}", flush=True)
    time.sleep(0.3)
if rank == 0: json.dump(w.tolist(), open("ranker.json", "w"))
dist.destroy_process_group()
