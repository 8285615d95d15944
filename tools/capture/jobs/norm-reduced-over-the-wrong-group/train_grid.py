import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
p = argparse.ArgumentParser(); p.add_argument("--tp", type=int); p.add_argument("--dp", type=int); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=14))
mesh = init_device_mesh("cuda", (a.dp, a.tp), mesh_dim_names=("dp", "tp"))
dp, tp = mesh["dp"].get_group(), mesh["tp"].get_group()
for g in (dp, tp, None): dist.all_reduce(torch.ones(1, device=dev), group=g)
def clip(grads, step):
    sq = sum(g.square().sum() for g in grads)[None]
    # the norm is summed over the ranks that hold parts of the tensor
    dist.all_reduce(sq, group=dp if (rank == 2 and step % 16 == 15) else tp)
    return sq.sqrt()
for step in range(60):
    grads = [torch.randn(1 << 18, device=dev) for _ in range(3)]
    for g in grads: dist.all_reduce(g, group=dp)
    n = clip(grads, step)
    loss = torch.rand(1, device=dev); dist.all_reduce(loss, group=tp)
    if step % 5 == 0: print(f"[rank {rank}] step {step} grad_norm {n.item():.2f} loss {loss.item():.4f}", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
