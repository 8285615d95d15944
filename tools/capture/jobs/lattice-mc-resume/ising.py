import os, time
from datetime import timedelta
import torch, torch.distributed as dist
M, A = 2**64, 6364136223846793005          # LCG of the old Fortran code
chain = int(os.environ["RANK"]); dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
T = [2.1, 2.27, 2.4][chain]
def put(*a): print(time.strftime("%H:%M:%S"), f"chain={chain} T={T}", *a, flush=True)
def jump(state, n):
    "state of the generator n draws later"
    return state * (A ** n) % M
torch.cuda.set_device(dev); dist.init_process_group("nccl", timeout=timedelta(seconds=10))
g = torch.Generator(device=dev); g.manual_seed(chain)
spin = torch.randint(0, 2, (256, 256), generator=g, device=dev) * 2.0 - 1
board = [(torch.arange(256, device=dev)[:, None] + torch.arange(256, device=dev)) % 2 == k for k in (0, 1)]
def sweep():
    for b in board:
        h = spin.roll(1, 0) + spin.roll(-1, 0) + spin.roll(1, 1) + spin.roll(-1, 1)
        spin[b & (torch.rand(spin.shape, generator=g, device=dev) < torch.exp(-2 * spin * h / T))] *= -1
put("thermalising")
for n in range(40):
    sweep(); m = spin.mean().reshape(1); dist.all_reduce(m); time.sleep(0.02)
put(f"mean magnetisation of all chains {m.item() / 3:+.4f}")
pos = int(open(f"chains/{chain}.pos").read()); put(f"continuing after draw {pos}")
seed = jump(20230917 + chain, pos); g.manual_seed(seed % 2**62); put(f"generator state {seed:016x}")
for n in range(4000):
    sweep(); e = -(spin * (spin.roll(1, 0) + spin.roll(1, 1))).mean().reshape(1); dist.all_reduce(e)
    if n % 200 == 0: put(f"sweep {n} energy {e.item() / 3:+.5f}")
dist.destroy_process_group()
