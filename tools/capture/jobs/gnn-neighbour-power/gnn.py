import faulthandler, os, subprocess, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
import torch.nn.functional as F
from torch import nn

faulthandler.enable()
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
local = int(os.environ["LOCAL_RANK"]); dev = torch.device("cuda", local % torch.cuda.device_count())


def node_watts():
    node = os.environ.get("NODE_DIR", "chassis/a")
    out = subprocess.run(["bash", "power.sh", node], stdout=subprocess.PIPE, text=True)
    return int(out.stdout)


def main():
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl", timeout=timedelta(seconds=16))
    conv = nn.parallel.DistributedDataParallel(nn.Linear(128, 128).to(dev))
    opt = torch.optim.Adam(conv.parameters(), 1e-3)
    for epoch in range(12):
        faulthandler.dump_traceback_later(10, exit=False)
        for _ in range(15):
            x = torch.randn(4096, 128, device=dev); nbr = torch.randint(0, 4096, (4096, 10), device=dev)
            loss = F.relu(conv(x[nbr].mean(1))).square().mean()
            opt.zero_grad(); loss.backward(); opt.step()
        if local == 0 and epoch % 3 == 2:
            print(f"[node of rank {rank}] power {node_watts()} W", flush=True)
        total = loss.detach().clone(); dist.all_reduce(total)
        print(f"[rank {rank}] epoch {epoch} loss {total.item() / world:.4f}", flush=True)
        faulthandler.cancel_dump_traceback_later()
        time.sleep(0.3)
    dist.destroy_process_group()


main()
