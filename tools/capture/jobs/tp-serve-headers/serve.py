import os, time, uuid, queue, threading, random
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

rank, tp = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())


def log(level, msg):
    who = "engine" if rank == 0 else f"worker-tp{rank}"
    print(f"{level:<5} {time.strftime('%H:%M:%S')} {who} | {msg}", flush=True)


class Shard(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(1024, 4096 // tp), nn.Linear(4096 // tp, 1024)

    @torch.no_grad()
    def forward(self, x):
        y = self.down(torch.relu(self.up(x)))
        dist.all_reduce(y)
        return y


def plan(batch, version):
    """What the engine tells its workers: requests, since v2 the sampling seeds, lengths."""
    names = ("id", "seed", "len") if version >= 2 else ("id", "len")
    return [[r[n] for r in batch] for n in names]


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    version = int(os.environ.get("PLAN_VERSION", "2"))
    shard = Shard().to(device).eval()
    log("INFO", f"tensor parallel {tp}, plan v{version}")
    warm = shard(torch.randn(8, 1024, device=device)); log("INFO", f"warm-up {warm.norm().item():.1f}")
    served = 0
    while served < 400:
        if rank == 0:
            batch = [{"id": uuid.uuid4().hex[:8], "len": random.randint(4, 32), "seed": random.getrandbits(30)} for _ in range(random.randint(1, 8))]
            message = plan(batch, version)
        else:
            message = [None] * (3 if version >= 2 else 2)
        dist.broadcast_object_list(message, src=0, device=device)
        ids, lengths = message[0], message[-1]
        for _ in range(max(lengths)):
            shard(torch.randn(len(ids), 1024, device=device))
        served += len(ids)
        if rank == 0: log("INFO", f"finished {', '.join(ids)} ({served} served)")
    log("INFO", "drained, bye")
    dist.destroy_process_group()


main()
