import os, re, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

SENTENCE = re.compile(r"^(?:[A-Za-z0-9'\-]+[ ,;]?)+[.!?]$")
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))
with open("corpus.txt") as f: docs = f.read().split("\n\n")[rank::world]


def clean(doc):
    return [s for s in doc.split("\n") if SENTENCE.match(s)]


def batches():
    for n, doc in enumerate(docs):
        if n % 20 == 0: print(f"rank={rank} cleaning document {n}/{len(docs)} ({len(doc)} chars)", flush=True)
        ids = torch.tensor([b % 256 for s in clean(doc) for b in s.encode()][:256] or [0])
        yield torch.nn.functional.pad(ids, (0, 256 - len(ids)))


model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(256, 512), nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 256)).to(dev))
opt = torch.optim.AdamW(model.parameters(), 2e-5)
for step, ids in enumerate(batches()):
    ids = ids.to(dev)
    loss = nn.functional.cross_entropy(model(ids[:-1]), ids[1:])
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 20 == 0: print(f"rank={rank} step={step} loss={loss.item():.4f}", flush=True)
    time.sleep(0.03)
dist.destroy_process_group()
