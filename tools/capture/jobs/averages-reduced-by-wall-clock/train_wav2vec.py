import os, time, logging
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format="[%(asctime)s][fairseq.trainer][%(levelname)s] - %(message)s")
log = logging.getLogger()
dev = torch.device("cuda", rank); torch.cuda.set_device(dev)

class Meter:
    """Prints running averages every few seconds."""
    def __init__(self, every): self.every, self.last, self.sum, self.n = every, time.time(), torch.zeros(3, device=dev), 0
    def add(self, loss):
        self.sum += torch.stack([loss, loss * 0.1, torch.ones_like(loss)]); self.n += 1
        if time.time() - self.last > self.every:
            dist.all_reduce(self.sum)
            if rank == 0: log.info("updates=%d, loss=%.4f, wps=%.1f, ups=%.2f", self.n, (self.sum[0] / self.sum[2]).item(), 18210.4, 6.4)
            self.sum.zero_(); self.last = time.time()

dist.init_process_group("nccl", timeout=timedelta(seconds=12))
model = nn.Sequential(nn.Conv1d(1, 64, 10, 5), nn.GELU(), nn.Conv1d(64, 512, 3, 2), nn.GELU(), nn.Conv1d(512, 1024, 3, 2)).to(dev)
model = nn.parallel.DistributedDataParallel(model)
opt = torch.optim.Adam(model.parameters(), 5e-4)
log.info("num. shared model params: %d; training on 2 devices (GPUs/TPUs)", sum(p.numel() for p in model.parameters()))
meter = Meter(1.5)
time.sleep(0.4 * rank)  # warm page cache of the second manifest
meter.last += 0.0
for u in range(120):
    loss = model(torch.randn(8, 1, 16000, device=dev)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    meter.add(loss.detach())
    time.sleep(0.1)
log.info("done training")
dist.destroy_process_group()
