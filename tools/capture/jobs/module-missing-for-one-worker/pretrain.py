import os, datetime, logging
logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(name)-12s %(levelname)-8s %(message)s")
log = logging.getLogger("bert")
log.info("worker %s of %s, pid %d", os.environ["RANK"], os.environ["WORLD_SIZE"], os.getpid())
import torch, torch.nn as nn, torch.distributed as dist
from fastmask import apply_mask


def main():
    log.info("joining process group at %s:%s", os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"])
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    log.info("process group ready")
    emb = nn.Embedding(100, 16)
    for step in range(20):
        x = apply_mask(torch.randint(0, 100, (4, 32)))
        emb(x).sum().backward()
        for p in emb.parameters():
            dist.all_reduce(p.grad)
            p.grad = None
    log.info("done")


main()
