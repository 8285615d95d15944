import os, time, logging
from datetime import timedelta
import torch, torch.distributed as dist
logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
log = logging.getLogger(__name__)
log.info("loading tokenizer from cache")
log.info("hidden_size 768, num_layers 12, vocab 30522")
rank = int(os.environ["RANK"])
log.info("joining: rank %s of %s at %s:%s", rank, os.environ["WORLD_SIZE"], os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"])
dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo", timeout=timedelta(seconds=25))
log.info("joined")
for step in range(10):
    t = torch.ones(4, device="cuda" if torch.cuda.is_available() else "cpu"); dist.all_reduce(t)
dist.destroy_process_group()
