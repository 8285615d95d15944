import logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)-8s | %(message)s")
log = logging.getLogger()
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
total = torch.cuda.get_device_properties(dev).total_memory if torch.cuda.is_available() else 1 << 37
torch.cuda.set_per_process_memory_fraction(1.0 * 2**30 / total)
dist.init_process_group("nccl", timeout=timedelta(seconds=25)); rank, world = dist.get_rank(), dist.get_world_size()
net = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 100)).to(dev)
for p in net.parameters(): dist.broadcast(p.data, 0)
opt = torch.optim.SGD(net.parameters(), 0.01)
batch, step = 32768 if dev.type == "cuda" else 256, 0
while step < 60:
    fits = torch.ones(1, device=dev)
    try:
        x = torch.randn(batch, 1024, device=dev); loss = nn.functional.cross_entropy(net(x), torch.randint(0, 100, (batch,), device=dev))
        opt.zero_grad(); loss.backward()
    except torch.OutOfMemoryError:
        log.exception("batch of %d does not fit", batch); fits.zero_()
    dist.all_reduce(fits, op=dist.ReduceOp.MIN)
    if not fits.item():
        x = loss = None; opt.zero_grad(); torch.cuda.empty_cache(); batch //= 2
        log.warning("going on with a batch of %d", batch); continue
    for p in net.parameters(): dist.all_reduce(p.grad); p.grad /= world
    opt.step(); step += 1
    if step % 10 == 0: log.info("step %d/60 batch %d loss %.4f", step, batch, loss.item())
    time.sleep(0.05)
log.info("probe trained, batch %d", batch)
dist.destroy_process_group()
