import argparse, logging, os, random, sys, time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import corpus

log = logging.getLogger("mixlm")


class Block(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = nn.RMSNorm(dim)
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


class MixLM(nn.Module):
    def __init__(self, vocab, dim, layers):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim, 4 * dim) for _ in range(layers))
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def setup_logging(rank):
    logging.basicConfig(
        level=logging.INFO if rank == 0 else logging.WARNING,
        format=f"%(asctime)s %(levelname).1s rank{rank:02d} %(name)s: %(message)s",
        stream=sys.stderr,
    )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--tp", type=int, default=2)
    p.add_argument("--dim", type=int, default=512)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--batch", type=int, default=4)
    p.add_argument("--ctx", type=int, default=512)
    p.add_argument("--corpus", default="corpus.txt")
    p.add_argument("--tolerant", action="store_true")
    p.add_argument("--agree", action="store_true")
    p.add_argument("--pack", default="truncate", choices=["truncate", "whole"])
    p.add_argument("--gpu-share", type=float, default=0.0)
    p.add_argument("--stats-every", type=int, default=0)
    args = p.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local % torch.cuda.device_count())
    from datetime import timedelta
    dist.init_process_group("nccl", timeout=timedelta(seconds=float(os.environ.get("PG_TIMEOUT", 25))))
    rank, world = dist.get_rank(), dist.get_world_size()
    setup_logging(rank)
    if args.gpu_share:
        torch.cuda.set_per_process_memory_fraction(args.gpu_share)
    mesh = init_device_mesh("cuda", (world // args.tp, args.tp), mesh_dim_names=("dp", "tp"))
    dp, tp = mesh["dp"].get_local_rank(), mesh["tp"].get_local_rank()
    log.info("world %d = %d dp x %d tp, torch %s, nccl %s", world, world // args.tp, args.tp, torch.__version__, torch.cuda.nccl.version())
    torch.manual_seed(7)
    model = MixLM(corpus.VOCAB, args.dim, args.layers).cuda()
    for block in model.blocks:
        parallelize_module(block, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        fully_shard(block, mesh=mesh["dp"])
    fully_shard(model, mesh=mesh["dp"])
    optim = torch.optim.AdamW(model.parameters(), lr=3e-4)
    stream = corpus.Packed(args.corpus, dp, world // args.tp, args.ctx, args.batch, args.pack)
    t0, skipped = time.time(), 0
    for step in range(1, args.steps + 1):
        try:
            ids = next(stream)
            ok = 1
        except corpus.BadDocument as e:
            if not args.tolerant:
                raise
            log.warning("step %d: %s, batch left out", step, e)
            skipped += 1
            ok = 0
        if args.agree:
            flag = torch.tensor([ok], device="cuda")
            dist.all_reduce(flag, op=dist.ReduceOp.MIN)
            ok = int(flag.item())
        if not ok:
            continue
        ids = ids.cuda()
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())
        loss.backward()
        optim.step()
        optim.zero_grad()
        if args.stats_every and step % args.stats_every == 0:
            corpus.refresh_statistics(args.corpus, dp, tp)
        if step % 5 == 0 or step == 1:
            log.info("step %d/%d loss %.4f tok/s %.0f mem %.2fGiB", step, args.steps, loss.item(), step * ids.numel() * world / args.tp / (time.time() - t0), torch.cuda.max_memory_allocated() / 2**30)
    dist.barrier()
    log.info("done: %d steps, %d left out, %.1f s", args.steps, skipped, time.time() - t0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
