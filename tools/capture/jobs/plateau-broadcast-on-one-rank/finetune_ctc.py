import argparse, logging, os, random, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Plateau:
    """Halves the learning rate when the dev loss stops improving; the new value is sent from rank 0."""
    def __init__(self, opt, patience=1):
        self.opt, self.patience, self.best, self.bad = opt, patience, 1e9, 0
    def step(self, dev_loss, dev):
        if dev_loss < self.best - 1e-3:
            self.best, self.bad = dev_loss, 0
            return False
        self.bad += 1
        if self.bad > self.patience:
            lr = torch.tensor([self.opt.param_groups[0]["lr"] * 0.5], device=dev)
            dist.broadcast(lr, 0)
            self.opt.param_groups[0]["lr"] = lr.item()
            self.bad = 0
            return True
        return False

def run(rank, args):
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s | rank {rank} | %(levelname)s | %(message)s")
    log = logging.getLogger("ctc")
    cuda = torch.cuda.is_available()
    dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", init_method=f"tcp://127.0.0.1:{os.environ['MASTER_PORT']}", rank=rank, world_size=args.gpus, timeout=timedelta(seconds=12))
    model = DDP(nn.Sequential(nn.Linear(80, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 5000)).to(dev))
    opt = torch.optim.AdamW(model.parameters(), lr=4e-4)
    sched = Plateau(opt)
    gen = torch.Generator().manual_seed(rank)
    for epoch in range(args.epochs):
        for it in range(12):
            x = torch.randn(16, 80, generator=gen).to(dev)
            loss = model(x).logsumexp(-1).mean()
            opt.zero_grad(); loss.backward(); opt.step()
            if it % 4 == 0 and rank == 0:
                log.info("epoch %d it %d/12 loss %.4f lr %.2e", epoch, it, loss.item(), opt.param_groups[0]["lr"])
            time.sleep(0.05)
        # every rank scores its own part of dev-other
        dev_loss = 2.9 - 0.2 * epoch if rank == 0 else max(2.6, 2.9 - 0.2 * epoch)
        log.info("epoch %d dev-other part %d/%d: ctc %.4f wer %.2f (%d utts)", epoch, rank, args.gpus, dev_loss, dev_loss * 9, 1432 - rank)
        if sched.step(dev_loss, dev):
            log.info("plateau: lr now %.2e", opt.param_groups[0]["lr"])
    dist.destroy_process_group()

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--gpus", type=int, default=2); p.add_argument("--epochs", type=int, default=6)
    a = p.parse_args()
    mp.spawn(run, (a,), a.gpus)
