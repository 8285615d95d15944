import os, time
from datetime import timedelta
import numpy as np
import torch, torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
SHARDS = [f"clicks-{d:02d}" for d in range(1, 8)]

class Clicks(IterableDataset):
    def __iter__(self):
        for name in SHARDS[rank::world]:
            rng = np.random.default_rng(int(name[-2:]))
            for _ in range(30): yield rng.integers(0, 5000, (256, 12)), rng.integers(0, 2, 256)

def main():
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl", timeout=timedelta(seconds=10))
    print(f"{len(SHARDS[rank::world])} shards: {' '.join(SHARDS[rank::world])}")
    table = torch.randn(5000, 16, device=dev) * 0.1; bias = torch.zeros(5000, device=dev); w0 = torch.zeros(1, device=dev)
    params = [table, bias, w0]
    for p in params: dist.broadcast(p, 0); p.requires_grad_()
    for epoch in range(3):
        seen, total = 0, 0.0
        for x, y in DataLoader(Clicks(), batch_size=None, num_workers=1):
            x, y = x.to(dev), y.to(dev).float(); e = table[x]
            score = w0 + bias[x].sum(1) + 0.5 * (e.sum(1).square() - e.square().sum(1)).sum(-1)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(score, y); loss.backward()
            handles = [dist.all_reduce(p.grad, async_op=True) for p in params]
            seen += len(y); total += loss.item() * len(y)
            for h, p in zip(handles, params):
                h.wait(); p.data -= 0.05 / world * p.grad; p.grad = None
            time.sleep(0.05)
        print(f"epoch {epoch} rows {seen} logloss {total / seen:.4f}")
        every = [torch.zeros(2, device=dev) for _ in range(world)]
        dist.all_gather(every, torch.tensor([total, float(seen)], device=dev))
        t, s = torch.stack(every).sum(0).tolist(); print(f"epoch {epoch} all rows {s:.0f} logloss {t / s:.4f}")
    dist.destroy_process_group()

if __name__ == "__main__":
    main()
