import os, logging
from datetime import timedelta
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=8))
log = logging.getLogger()
cfg = {"depth": 4, "width": 64}
if os.environ["RANK"] == "1": cfg["width"] = 60
log.info("building a model of width %d", cfg["width"])
try:
    m = torch.nn.MultiheadAttention(cfg["width"], 8)
    m = torch.nn.parallel.DistributedDataParallel(m)
    log.info("model ready")
except Exception:
    log.exception("cannot build the model")
    raise SystemExit(2)
