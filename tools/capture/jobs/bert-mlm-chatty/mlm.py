import logging, os, time, warnings
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
logging.basicConfig(level=logging.DEBUG, format="[%(asctime)s][%(name)s][%(levelname)s] - %(message)s"); log = logging.getLogger("mlm")
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=25)); rank = dist.get_rank()
net = nn.ModuleDict({"emb": nn.Embedding(2000, 64), "enc": nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 2), "out": nn.Linear(64, 2000)})
class Mlm(nn.Module):
    def __init__(self): super().__init__(); self.net = net
    def forward(self, x): return self.net["out"](self.net["enc"](self.net["emb"](x)))
model = nn.parallel.DistributedDataParallel(Mlm().to(dev), find_unused_parameters=True)
opt = torch.optim.AdamW(model.parameters(), 1e-3); sched = torch.optim.lr_scheduler.StepLR(opt, 50)
for step in range(100):
    x = torch.randint(0, 2000, (8, 33), device=dev)
    if step == 0: sched.step()
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), x.flatten()); opt.zero_grad(); loss.backward(); opt.step(); sched.step()
    if step == 40 and rank == 1: log.warning("loader behind: waiting 6.0 s for shard 0007 (timeout is 30 s)"); time.sleep(6)
    if step == 60: log.error("could not reach the tracker (HTTP 502), metrics are kept in metrics.%d.csv", rank)
    if step % 10 == 0: log.debug("rank %d step %d loss %.3f lr %.1e", rank, step, loss.item(), sched.get_last_lr()[0])
    time.sleep(0.03)
warnings.warn("tokens longer than 512 were cut: 41 of 26400 sequences")
log.info("training finished, 100 steps"); dist.barrier(); dist.destroy_process_group()
