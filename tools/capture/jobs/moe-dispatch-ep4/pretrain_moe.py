"""Small mixture of experts, one expert per process."""
import os, random, time
from datetime import timedelta
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

EP, D, CAPACITY = 4, 512, 384


def dispatch(x, choice, rank):
    order = choice.argsort()
    counts = torch.bincount(choice, minlength=EP)
    theirs = torch.empty_like(counts)
    dist.all_to_all_single(theirs, counts)
    send = counts.clamp_max(CAPACITY).tolist()
    recv = theirs.tolist()
    rows, start = [], 0
    for c, s in zip(counts.tolist(), send):
        rows.append(order[start:start + s])
        start += c
    kept = torch.cat(rows)
    buf = x.new_empty(sum(recv), D)
    dist.all_to_all_single(buf, x[kept].contiguous(), recv, send)
    return buf, kept, recv, send


def train(rank, world, port):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    os.environ.setdefault("NCCL_HOSTID", f"ep{rank}")
    dev = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl", rank=rank, world_size=world, timeout=timedelta(seconds=14))
    torch.manual_seed(100 + rank)
    router = nn.Linear(D, EP).to(dev)
    expert = nn.Sequential(nn.Linear(D, 1024), nn.GELU(), nn.Linear(1024, D)).to(dev)
    opt = torch.optim.AdamW([*router.parameters(), *expert.parameters()], 1e-3)
    for it in range(200):
        x = torch.randn(1024, D, device=dev)
        if it == 25 and rank == 2:
            x = x * 0.01 + 3 * router.weight.detach()[1]
        choice = router(x).argmax(-1)
        buf, kept, recv, send = dispatch(x, choice, rank)
        y = expert(buf)
        back = x.new_empty(sum(send), D)
        dist.all_to_all_single(back, y.detach().contiguous(), send, recv)
        loss = y.square().mean() + router(x[kept]).logsumexp(-1).square().mean() * 1e-3
        opt.zero_grad(); loss.backward()
        dist.all_reduce(router.weight.grad); dist.all_reduce(router.bias.grad)
        opt.step()
        if it % 5 == 0:
            load = "/".join(map(str, torch.bincount(choice, minlength=EP).tolist()))
            print(f"(ep {rank}) iter {it:4d} | loss {loss.item():.4f} | routed {load} | received {sum(recv)}", flush=True)
        time.sleep(0.03)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, args=(EP, os.environ["PORT"]), nprocs=EP)
