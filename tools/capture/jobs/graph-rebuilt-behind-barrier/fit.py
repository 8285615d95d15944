import datetime, os, time, logging
import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=14)); rank = dist.get_rank()
logging.basicConfig(format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s", level=20); log = logging.getLogger(f"trainer.p{rank}")
net = DDP(nn.Linear(64, 64)); opt = torch.optim.SGD(net.parameters(), 0.01)
for e in range(4):
    log.info("epoch %d begins", e)
    for b in range(25):
        l = (net(torch.randn(8, 64))).pow(2).mean(); opt.zero_grad(); l.backward(); opt.step()
    log.info("epoch %d ends, loss %.4f", e, l.item())
    if rank == 0 and e == 1:
        log.info("rebuilding nearest neighbour graph")
        n = 0; t = time.time()
        while time.time() - t < 40:
            sum(i * i for i in range(200000)); n += 1
            if n % 60 == 0: log.info("graph: linked %d nodes, %.1f%% of edges pruned", n * 1000, 40 + n / 90)
        log.info("graph rebuilt in %.1f s", time.time() - t)
    dist.barrier()
log.info("fit complete")
