import os, logging
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
log = logging.getLogger("hybrid")

def build_groups(world, tp):
    groups = None
    for start in range(0, world, tp):
        g = dist.new_group(list(range(start, start + tp)), timeout=timedelta(seconds=15))
        if start <= dist.get_rank() < start + tp:
            groups = g
    return groups

def sync_parameters(module, group):
    for p in module.parameters():
        dist.broadcast(p.data, src=0, group=group)

def main():
    cuda = torch.cuda.is_available()
    lr = int(os.environ["LOCAL_RANK"])
    dev = torch.device(f"cuda:{lr % torch.cuda.device_count()}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
    tp = build_groups(dist.get_world_size(), 2)
    log.info("rank %d: tensor-parallel group of %s", dist.get_rank(), dist.get_process_group_ranks(tp))
    layer = nn.Linear(512, 512).to(dev)
    sync_parameters(layer, tp)
    for step in range(20):
        y = layer(torch.randn(8, 512, device=dev))
        dist.all_reduce(y, group=tp)
        if step % 5 == 0: log.info("step %d |y| %.3f", step, y.norm().item())
    dist.barrier()
    dist.destroy_process_group()

main()
