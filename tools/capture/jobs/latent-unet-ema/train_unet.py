import json, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

RANK = int(os.environ["RANK"]); WORLD = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())


def emit(**kw):
    print(json.dumps({"t": round(time.time(), 2), "rank": RANK, **kw}), flush=True)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.n = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(8, c)
    def forward(self, x):
        return x + self.b(torch.nn.functional.silu(self.a(self.n(x))))


def latents(step):
    g = torch.Generator().manual_seed(step * WORLD + RANK)
    x = torch.randn(8, 64, 32, 32, generator=g)
    if step * WORLD + RANK == 161:        # over-exposed shard of scans
        x *= 40
    return x.to(dev)


def main():
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl", timeout=timedelta(seconds=12))
    net = DDP(nn.Sequential(*[Block(64) for _ in range(4)]).to(dev))
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    ema = None
    emit(event="start", params=sum(p.numel() for p in net.parameters()))
    for step in range(200):
        x = latents(step)
        loss = (net(x) - x).square().mean() + x.square().mean()
        opt.zero_grad(); loss.backward()
        value = loss.item()
        if ema is not None and value > 5 * ema:
            spike = torch.tensor([value], device=dev)
            dist.all_reduce(spike, op=dist.ReduceOp.MAX)
            emit(event="spike", step=step, value=spike.item())
            continue
        ema = value if ema is None else 0.95 * ema + 0.05 * value
        opt.step()
        if step % 5 == 0:
            emit(event="train", step=step, loss=round(value, 4), ema=round(ema, 4))
        time.sleep(0.05)
    emit(event="end")
    dist.destroy_process_group()


main()
