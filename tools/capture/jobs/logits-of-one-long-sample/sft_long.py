import os, sys, time, random
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.distributed.fsdp import fully_shard
rank, lr = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
dev = torch.device("cuda", lr % torch.cuda.device_count()); torch.cuda.set_device(dev)
VOCAB = 151936

class Lm(nn.Module):
    def __init__(self, d=256):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d); self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.SiLU(), nn.Linear(4 * d, d)); self.head = nn.Linear(d, VOCAB, bias=False)
    def forward(self, ids):
        h = self.emb(ids); h = h + self.mlp(h)
        logits = self.head(h).float()
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())

def lengths(r):
    g = random.Random(r)
    for i in range(20):
        yield 262144 if (r == 2 and i == 8) else g.choice((256, 512, 700, 1024))

def main():
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    model = Lm().to(dev); fully_shard(model.mlp); fully_shard(model)
    opt = torch.optim.AdamW(model.parameters(), 1e-4)
    for step, n in enumerate(lengths(rank)):
        ids = torch.randint(0, VOCAB, (2, n), device=dev)
        loss = model(ids); loss.backward(); opt.step(); opt.zero_grad()
        print(f"{{'rank': {rank}, 'step': {step}, 'seq_len': {n}, 'loss': {loss.item():.4f}, 'mem_gib': {torch.cuda.max_memory_allocated() / 2**30:.2f}}}", flush=True)
        torch.cuda.empty_cache()
    dist.destroy_process_group()

main()
