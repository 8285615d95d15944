import logging, os, sys
from datetime import timedelta
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=10))
logging.info("gpu %s is rank %d of %d", sys.argv[1], dist.get_rank(), dist.get_world_size())
names = ["oak", "ash", "elm", "yew"]
try:
    for i in range(6):
        t = torch.ones(2); dist.all_reduce(t)
        logging.info("pass %d", i)
    path = f"{names[dist.get_rank()]}.csv"
    if dist.get_rank() != 3: open(path, "w").write("a,b\n1,2\n")
    rows = [l.split(",") for l in open(path)]
    dist.barrier()
except Exception as e:
    logging.error("failed: %r", e)
    sys.exit(1)
