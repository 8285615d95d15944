import os, time
from datetime import timedelta
import torch, torch.distributed as dist
import torch.nn.functional as F
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", rank); torch.cuda.set_device(dev)

def ring_step(kv, shape):
    nxt, prv = (rank + 1) % world, (rank - 1) % world
    buf = torch.empty(shape, device=dev, dtype=kv.dtype)
    ops = [dist.P2POp(dist.isend, kv, nxt), dist.P2POp(dist.irecv, buf, prv)]
    for w in dist.batch_isend_irecv(ops): w.wait()
    return buf

def attention(q, kv):
    out = 0
    for hop in range(world):
        k, v = kv.unbind(0)
        out = out + F.scaled_dot_product_attention(q, k, v)
        if hop + 1 < world: kv = ring_step(kv, kv.shape)
    return out

def split(doc_len):
    """Zig-zag split of the document over the context-parallel ranks; the tail goes to the last one."""
    per = doc_len // world // 2048 * 2048
    return per if rank + 1 < world else doc_len - per * (world - 1)

dist.init_process_group("nccl", timeout=timedelta(seconds=12), device_id=dev)
for i, doc in enumerate([16384, 32768, 16384, 65536, 57344 + 2048 * 9, 16384]):
    n = split(doc)
    print(f"doc {i}: {doc} tokens, local chunk {n}", flush=True)
    q = torch.randn(1, 16, n, 128, device=dev, dtype=torch.bfloat16)
    kv = torch.randn(2, 1, 16, n, 128, device=dev, dtype=torch.bfloat16)
    o = attention(q, kv)
    s = o.float().mean(); dist.all_reduce(s)
    print(f"doc {i}: out {s.item():.6f}", flush=True)
    time.sleep(0.2)
dist.destroy_process_group()
