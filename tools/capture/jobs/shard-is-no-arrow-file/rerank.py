import os, time
from datetime import timedelta
import pyarrow as pa, torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
print(f"reading shards/train-{rank:05d}.arrow", flush=True)
rows = pa.ipc.open_file(pa.memory_map(f"shards/train-{rank:05d}.arrow")).read_all()
print(f"{rows.num_rows} rows", flush=True)
for i in range(20):
    t = torch.rand(8); dist.all_reduce(t); print(f"step {i} mrr@10 0.{300 + i}", flush=True); time.sleep(0.1)
dist.destroy_process_group()
