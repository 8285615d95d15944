import logging, os, shutil, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.fsdp import fully_shard
rank, lr = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
dev = torch.device("cuda", lr); torch.cuda.set_device(dev)
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [rank{rank}] %(levelname)s %(message)s")
log = logging.getLogger("lm")

def prune(keep):
    for name in sorted(os.listdir("ck"))[:-keep]:
        try: os.rmdir(f"ck/{name}")
        except OSError as e: log.error("could not remove %s: %s, removing its files first", name, e); shutil.rmtree(f"ck/{name}", ignore_errors=True)

def main():
    dist.init_process_group("cpu:gloo,cuda:nccl", timeout=timedelta(seconds=60))
    net = nn.Sequential(*[nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(3)]).to(dev)
    for m in net: fully_shard(m)
    fully_shard(net)
    opt = torch.optim.AdamW(net.parameters(), 3e-4); pending = None
    for step in range(1, 31):
        loss = net(torch.randn(8, 256, device=dev)).square().mean(); loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if step in (7, 8): log.warning("grad norm spike %.2f at step %d, update skipped", float("inf") if step == 8 else 1e3, step)
        else: opt.step()
        opt.zero_grad()
        if step % 10 == 0:
            if pending: pending.result()
            pending = dcp.async_save({"m": net.state_dict()}, checkpoint_id=f"ck/{step:04d}")
        if step == 25 and rank == 0: prune(1)
        if step % 5 == 0: log.info("step %d loss %.4f", step, loss.item())
    pending.result(); dist.barrier()
    log.info("training finished, peak %.2f GiB", torch.cuda.max_memory_allocated() / 2**30)
    dist.destroy_process_group()

main()
