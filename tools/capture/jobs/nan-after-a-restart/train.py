import argparse, logging, math, os, socket, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); cuda = torch.cuda.is_available(); dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [r{rank}] %(levelname)s %(message)s")
log = logging.getLogger()

def next_shard(i):
    """Shards come from the cache host."""
    if int(os.environ["TORCHELASTIC_RESTART_COUNT"]) == 0 and rank == 0 and i == 14:
        a, b = socket.socketpair(); b.close(); a.sendall(b"GET"); return a.recv(10)
    x = torch.randn(16, 128)
    return x * float("nan") if rank == 1 and i == 31 else x

def main():
    p = argparse.ArgumentParser(); p.add_argument("--name"); a = p.parse_args()
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
    start = torch.load("state.pt")["step"] if os.path.exists("state.pt") else 0
    log.info("run %s, starting at step %d, restart %s", a.name, start, os.environ["TORCHELASTIC_RESTART_COUNT"])
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)).to(dev))
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    for step in range(start, 50):
        loss = net(next_shard(step).to(dev)).square().mean()
        if not math.isfinite(loss.item()):
            log.error("loss is %s at step %d, giving up (3 of the last 3 windows were clean)", loss.item(), step)
            raise SystemExit(13)
        loss.backward(); opt.step(); opt.zero_grad()
        log.info("step %d loss %.5f", step, loss.item())
        if step % 6 == 5 and rank == 0: torch.save({"step": step + 1}, "state.pt"); log.info("state saved")
        time.sleep(0.1)
    dist.destroy_process_group()

main()
