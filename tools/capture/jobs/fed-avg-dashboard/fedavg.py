import logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist
client = os.environ["RANK"]
logging.basicConfig(level="INFO", format="{asctime} client" + client + " {levelname}: {message}", style="{")
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
logging.info("aggregator at %s:%s", os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"])
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
logging.info("%d clients", dist.get_world_size())
w = torch.zeros(100, device=dev)
for round in range(30):
    for _ in range(20):
        x = torch.randn(64, 100, device=dev); w -= 0.01 * ((x @ w - x.sum(1))[:, None] * x).mean(0)
    dist.all_reduce(w); w /= dist.get_world_size()
    logging.info("round %d distance %.4f", round, (w - 1).norm().item()); time.sleep(0.2)
dist.destroy_process_group()
