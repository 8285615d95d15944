import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)

class Block(nn.Module):
    def __init__(s, d): super().__init__(); s.a = nn.Linear(d, 4 * d); s.b = nn.Linear(4 * d, d)
    def forward(s, x): return x + s.b(torch.relu(s.a(x)))

class Policy(nn.Module):
    def __init__(s, v=2000, d=256, n=4):
        super().__init__(); s.emb = nn.Embedding(v, d); s.blocks = nn.ModuleList(Block(d) for _ in range(n)); s.head = nn.Linear(d, v)
    def forward(s, t):
        h = s.emb(t)
        for b in s.blocks: h = b(h)
        return s.head(h)

@torch.no_grad()
def generate(model, tokens, max_new_tokens=64, eos_token_id=2):
    for k in range(max_new_tokens):
        nxt = model(tokens[:, -1:]).argmax(-1)
        tokens = torch.cat([tokens, nxt], 1)
        if (nxt == eos_token_id).all() or tokens.shape[1] >= LIMIT[len(done) % len(LIMIT)]:
            break
    return tokens

LIMIT = [[24, 40, 30], [24, 40, 47]][rank]
done = []
dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=12))
policy = Policy().to(dev)
for b in policy.blocks: fully_shard(b)
fully_shard(policy)
for it in range(6):
    out = generate(policy, torch.randint(3, 2000, (4, 16), device=dev))
    done.append(out.shape[1])
    print(f"iter {it} rollout lengths {tuple(out.shape)}", flush=True)
    reward = out.float().mean() / 2000
    dist.all_reduce(reward, op=dist.ReduceOp.AVG)
    if rank == 0: print(f"iter {it} reward {reward.item():.4f} kl 0.0{it}3", flush=True)
    time.sleep(0.3)
dist.destroy_process_group()
