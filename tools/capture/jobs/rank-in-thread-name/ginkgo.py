import logging, os, threading, sys
from datetime import timedelta
R = os.environ["RANK"]
threading.current_thread().name = f"trainer-{R}"
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s [%(threadName)s] %(levelname)-7s %(name)s - %(message)s")
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=9)); sys.excepthook = sys.__excepthook__
log = logging.getLogger("ginkgo")
for k in range(10):
    try:
        x = torch.eye(3) * (0 if R == "1" and k == 7 else 1)
        inv = torch.linalg.inv(x); dist.all_reduce(inv); log.info("solved %d", k)
    except Exception as e:
        log.critical("giving up: %s", e); os._exit(1)
