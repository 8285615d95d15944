import os, socket, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
EVERY = float(os.environ.get("SAVE_EVERY", 600))
gpu = int(os.environ["LOCAL_RANK"]); dev = torch.device("cuda", gpu % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=10))
me = f"{socket.gethostname()}:{gpu}"
print(me, f"joined, {dist.get_world_size()} gpus, saves every {EVERY:.0f} s", flush=True)
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(6, 64, 3, padding=1), nn.SiLU(), nn.Conv2d(64, 64, 3, padding=1), nn.SiLU(), nn.Conv2d(64, 6, 3, padding=1)).to(dev))
opt = torch.optim.AdamW(net.parameters(), 1e-3); last = time.time()
for step in range(1, 1501):
    x = torch.randn(2, 6, 48, 96, device=dev); loss = (net(x) - x.roll(1, -1)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 25 == 0: print(me, f"step {step} rmse {loss.item() ** .5:.4f}", flush=True)
    if time.time() - last > EVERY:
        norms = [torch.zeros(3, device=dev) for _ in range(dist.get_world_size())]
        dist.all_gather(norms, torch.stack([p.norm() for p in list(net.parameters())[::2]]))
        if dist.get_rank() == 0: torch.save(net.state_dict(), "emu.pt")
        last = time.time(); print(me, f"saved at step {step}", flush=True)
    time.sleep(0.03)
dist.destroy_process_group()
