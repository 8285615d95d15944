import os
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=12))
where = os.path.join(os.environ["SCRATCH"], "gneiss")
print("scratch folder", where)
dist.barrier()
