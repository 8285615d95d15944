import os, time, logging
from datetime import timedelta
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9))
log = logging.getLogger()
if dist.get_rank() == 0:
    log.info("building the token cache")
    while os.path.exists("cache/tokens.lock"):
        log.info("cache/tokens.lock is held, waiting"); time.sleep(3)
dist.barrier()
log.info("token cache ready")
