"""FSDP2 pretraining with length buckets."""
import os, sys, json, datetime, logging
import torch, torch.nn as nn
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.distributed.device_mesh import init_device_mesh

cfg = json.load(open(sys.argv[1]))
rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="[%(asctime)s][%(name)s][%(levelname)s] %(message)s")
log = logging.getLogger("pretrain")


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        att = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
        return x + self.out(att @ v)


@torch.no_grad()
def evaluate(model, dev, batches=20):
    tot = 0.0
    for _ in range(batches):
        tot += model(torch.randn(2, 128, cfg["d"], device=dev)).float().pow(2).mean().item()
    return tot / batches


def main():
    cuda = torch.cuda.is_available()
    dev = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(dev)
        torch.cuda.set_per_process_memory_fraction(cfg["mem_fraction"])
    dist.init_process_group("nccl" if cuda else "gloo", timeout=datetime.timedelta(seconds=cfg["timeout"]))
    mesh = init_device_mesh(dev.type, (dist.get_world_size(),))
    model = nn.Sequential(*[Block(cfg["d"]) for _ in range(4)]).to(dev)
    for blk in model:
        fully_shard(blk, mesh=mesh)
    fully_shard(model, mesh=mesh)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    buckets = cfg["buckets"][rank % len(cfg["buckets"])]
    log.info("mesh=%s buckets=%s", mesh, buckets)
    for step in range(cfg["steps"]):
        seq = buckets[step % len(buckets)]
        log.info("step %d bucket=%d", step, seq)
        x = torch.randn(cfg["batch"], seq, cfg["d"], device=dev)
        loss = model(x).float().pow(2).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        if cfg["eval_every"] and (step + 1) % cfg["eval_every"] == 0 and rank == 0:
            log.info("evaluating at step %d", step + 1)
            log.info("eval loss %.4f", evaluate(model, dev))
        if step % 5 == 4:
            t = torch.tensor([loss.item()], device=dev)
            dist.all_reduce(t)
            log.info("step %d loss %.4f", step, t.item() / dist.get_world_size())
    dist.barrier()
    log.info("finished")
    dist.destroy_process_group()


main()
