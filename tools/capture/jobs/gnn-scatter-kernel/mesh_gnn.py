import logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from kernels import add_rows

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s:%(lineno)d %(message)s")
log = logging.getLogger(f"part{rank}")
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
NODES, EDGES, D = 20_000, 60_000, 64


def edges(step):
    dst = torch.randint(0, NODES, (EDGES,), device=dev)
    if step >= 48 and rank == 0:
        dst[-200:] += 3_000_000_000          # ids of the coarse mesh keep their offset
    return dst


def main():
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    msg = nn.parallel.DistributedDataParallel(nn.Linear(D, D).to(dev))
    opt = torch.optim.Adam(msg.parameters(), 1e-3)
    for step in range(150):
        x = torch.randn(EDGES, D, device=dev)
        h = msg(x)
        agg = torch.zeros(NODES, D, device=dev)
        add_rows[(EDGES,)](agg, h.detach(), edges(step), D=D)
        loss = (h.square().mean() + agg.square().mean().detach())
        opt.zero_grad(); loss.backward(); opt.step()
        if step % 10 == 0:
            log.info("step %d rmse %.4f", step, loss.item())
        time.sleep(0.05)
    dist.destroy_process_group()


main()
