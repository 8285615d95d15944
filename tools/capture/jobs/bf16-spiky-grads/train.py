import math, os, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch import nn

def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=port, NCCL_HOSTID=f"n{rank}")
    dev = torch.device("cuda", rank % torch.cuda.device_count()); torch.cuda.set_device(dev)
    dist.init_process_group("nccl", rank=rank, world_size=world, timeout=timedelta(seconds=25))
    net = nn.Sequential(nn.Linear(128, 512), nn.Tanh(), nn.Linear(512, 128)).to(dev)
    for p in net.parameters(): dist.broadcast(p.data, 0)
    opt = torch.optim.SGD(net.parameters(), 0.01); skipped = 0
    for step in range(150):
        x = torch.randn(32, 128, device=dev)
        if (step, rank) in {(41, 1), (42, 1), (97, 0)}: x[3, 5] = math.inf if rank else math.nan
        loss = (net(x) - x).square().mean(); opt.zero_grad(); loss.backward()
        flat = torch.cat([p.grad.flatten() for p in net.parameters()]); norm = flat.norm()
        if not torch.isfinite(norm): print(f"WARNING [{rank}] step {step}: grad norm is {norm.item()}, loss {loss.item()}", flush=True)
        dist.all_reduce(flat); flat /= world
        if torch.isfinite(flat).all():
            for p, g in zip(net.parameters(), flat.split([p.numel() for p in net.parameters()])): p.grad.copy_(g.view_as(p))
            opt.step()
        else:
            skipped += 1
            if rank == 0: print(f"ERROR step {step}: non-finite gradient after all-reduce (NaN/Inf), update skipped [{skipped} of at most 10]", flush=True)
        if rank == 0 and step % 15 == 0: print(f"step {step:>5} | loss {loss.item():.4f} | skipped {skipped}", flush=True)
        time.sleep(0.03)
    if rank == 0: print(f"training complete: 150 steps, {skipped} skipped", flush=True)
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(worker, (3, os.environ["PORT"]), 3)
