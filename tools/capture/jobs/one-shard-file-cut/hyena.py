import argparse, logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard
logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
log = logging.getLogger("hyena")

def main():
    p = argparse.ArgumentParser(); p.add_argument("--resume"); a = p.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(seconds=20))
    mesh = init_device_mesh("cpu", (4,))
    blocks = {f"blocks.{i}.w": distribute_tensor(torch.zeros(256, 64), mesh, [Shard(0)]) for i in range(4)}
    log.info("rank %d resuming from %s", dist.get_rank(), a.resume)
    dcp.load({"model": blocks}, checkpoint_id=a.resume)
    log.info("resumed")
    for step in range(2000, 2010):
        t = torch.rand(16); dist.all_reduce(t)
        if dist.get_rank() == 0: log.info("step %d ppl %.3f", step, 2.9)
    dist.destroy_process_group()

main()
