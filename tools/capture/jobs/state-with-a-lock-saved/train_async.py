import logging, os, threading, time
from datetime import timedelta
import torch, torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
logging.basicConfig(level=logging.INFO, format="%(asctime)s\t%(name)s\t%(levelname)s\t%(message)s")
log = logging.getLogger("olmax")

class Counter:
    def __init__(self): self.n, self.guard = 0, None
    def bump(self):
        self.n += 1

def main():
    cuda = torch.cuda.is_available(); rank = int(os.environ["RANK"])
    dev = torch.device(f"cuda:{rank % torch.cuda.device_count()}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("cpu:gloo,cuda:nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
    net = nn.parallel.DistributedDataParallel(nn.Linear(256, 256).to(dev))
    opt = torch.optim.AdamW(net.parameters())
    seen, pending = Counter(), None
    for step in range(1, 31):
        net(torch.randn(8, 256, device=dev)).square().mean().backward(); opt.step(); opt.zero_grad(); seen.bump()
        if rank == 2 and step == 15:
            seen.guard = threading.Lock()  # the prefetcher starts counting too
        if step % 10 == 0:
            if pending is not None: pending.result()
            log.info("[step=%d] saving checkpoint (async) rank=%d", step, rank)
            pending = dcp.async_save({"model": net.module.state_dict(), f"seen_{rank}": seen}, checkpoint_id=f"ckpt/step{step}")
        if step % 5 == 0 and rank == 0: log.info("[step=%d/30] train/loss=%.4f throughput/device/tokens=%d", step, 9 / step, 11804)
        time.sleep(0.1)
    pending.result()
    log.info("finished")
    dist.destroy_process_group()

main()
