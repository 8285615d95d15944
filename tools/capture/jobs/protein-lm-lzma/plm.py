import io, lzma, os, sys
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
lr = int(os.environ["LOCAL_RANK"]); dev = torch.device("cuda", lr % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=10)); rank = dist.get_rank()
net = nn.Sequential(nn.Embedding(33, 768), *[nn.Linear(768, 768) for _ in range(12)], nn.Linear(768, 33)).to(dev)
ddp = nn.parallel.DistributedDataParallel(net); opt = torch.optim.Adam(ddp.parameters(), 1e-4)
def bar(i, n, loss):
    if rank == 0: print(f"epoch 1 |{'#' * (20 * i // n):20s}| {i}/{n} perplexity={2.718 ** loss:.2f}", file=sys.stderr, flush=True)
for i in range(1, 121):
    seq = torch.randint(0, 33, (8, 65), device=dev)
    loss = nn.functional.cross_entropy(ddp(seq[:, :-1]).flatten(0, 1), seq[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
    if i % 10 == 0: bar(i, 120, loss.item())
    if i % 30 == 0:
        if rank == 0:
            print(f"writing ckpt/plm-{i}.pt.xz", file=sys.stderr, flush=True); os.makedirs("ckpt", exist_ok=True)
            b = io.BytesIO(); torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, b)
            with lzma.open(f"ckpt/plm-{i}.pt.xz", "wb", preset=9 | lzma.PRESET_EXTREME) as f: f.write(b.getvalue())
            print(f"wrote ckpt/plm-{i}.pt.xz", file=sys.stderr, flush=True)
        dist.barrier()
dist.destroy_process_group()
