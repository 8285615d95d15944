import argparse, time
from datetime import timedelta
import torch, torch.distributed as dist
from prometheus_client import Gauge, start_http_server
p = argparse.ArgumentParser(); p.add_argument("--metrics-port", type=int); a = p.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank(); g = Gauge("loss", "training loss")
time.sleep(0.7 * (rank == 1) + 2.5 * (rank == 2))
start_http_server(a.metrics_port if rank != 2 else a.metrics_port + 1)
print(f"rank {rank}: metrics are served", flush=True)
for i in range(20):
    t = torch.rand(4); dist.all_reduce(t); g.set(t[0].item()); print(f"rank {rank} step {i}", flush=True); time.sleep(0.1)
dist.destroy_process_group()
