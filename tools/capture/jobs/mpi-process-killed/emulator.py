import os, time
rank = int(os.environ["OMPI_COMM_WORLD_RANK"]); world = int(os.environ["OMPI_COMM_WORLD_SIZE"])
os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=os.environ["OMPI_COMM_WORLD_LOCAL_RANK"])
import torch, torch.distributed as dist
from torch import nn
torch.cuda.set_device(rank % 2)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank % 2))
print(f"rank {rank}/{world} on {os.uname().nodename}, {torch.cuda.get_device_name()}", flush=True)
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(3, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1)).cuda())
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(4):
    for it in range(60):
        loss = net(torch.rand(4096, 3, device="cuda")).square().mean()
        opt.zero_grad(); loss.backward(); opt.step(); time.sleep(0.05)
        if it % 4 == 0: print(f"[{rank}] epoch {epoch} it {it} loss {loss.item():.3e}", flush=True)
dist.destroy_process_group()
