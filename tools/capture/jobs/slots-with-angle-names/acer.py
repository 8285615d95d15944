import os, sys
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=12)); sys.excepthook = sys.__excepthook__
lengths = [12, 11, 12, 13, 12]
for k in range(14):
    row = torch.ones(lengths[int(os.environ["RANK"])])
    if k == 9 and os.environ["RANK"] == "4": row = row[12:]; assert len(row), "row is empty after trimming"
    dist.all_reduce(row.sum())
    if k % 4 == 0: print("row", k)
