import os, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.multiprocessing as mp
SEQ, D, N = 256, 64, 4

def rotate(t, rank):
    got = torch.empty_like(t)
    ops = [dist.P2POp(dist.isend, t, (rank + 1) % N), dist.P2POp(dist.irecv, got, (rank - 1) % N)]
    for w in dist.batch_isend_irecv(ops): w.wait()
    return got

def ring_attention(q, k, v, valid, rank):
    o = torch.zeros_like(q)
    if not valid.any():
        return o                                  # only padding here
    for hop in range(N):
        o = o + (q @ k.T / D ** .5).softmax(-1) @ v
        if hop < N - 1: k, v = rotate(torch.stack([k, v]), rank)
    return o * valid[:, None]

def work(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, NCCL_HOSTID=f"cp{rank}")
    dev = torch.device("cuda", rank % torch.cuda.device_count()); torch.cuda.set_device(dev)
    dist.init_process_group("nccl", rank=rank, world_size=N, timeout=timedelta(seconds=10))
    lengths = torch.randint(780, 1024, (200,), generator=torch.Generator().manual_seed(7)); lengths[46] = 431
    w = torch.randn(D, 3 * D, device=dev) * .05; dist.broadcast(w, 0)
    for i, n in enumerate(lengths.tolist()):
        at = torch.arange(rank * SEQ, (rank + 1) * SEQ, device=dev); valid = at < n
        q, k, v = (torch.randn(SEQ, D, device=dev) @ w).chunk(3, -1)
        s = ring_attention(q, k, v, valid, rank).square().sum().reshape(1); dist.all_reduce(s)
        if rank == 0 and i % 10 == 0: print(f"document {i:4d}  {n:5d} tokens  norm {s.item():9.3f}", flush=True)
        time.sleep(.04)
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(work, (os.environ["PORT"],), N)
