import os, random, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch import nn

GAMES = ["pong", "qbert", "seaquest"]
FRAMES = {"pong": 90, "qbert": 310, "seaquest": 80}


def learner(i, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port); os.environ.setdefault("NCCL_HOSTID", f"actor-{i}")
    dev = torch.device("cuda", i % torch.cuda.device_count()); torch.cuda.set_device(dev)
    torch.cuda.set_per_process_memory_fraction(0.016)
    dist.init_process_group("nccl", rank=i, world_size=len(GAMES), timeout=timedelta(seconds=15))
    game = GAMES[i]; q = nn.parallel.DistributedDataParallel(nn.Linear(512, 18).to(dev)); opt = torch.optim.RMSprop(q.parameters(), 1e-4)
    replay = {}
    mib = lambda: f"{torch.cuda.memory_allocated() >> 20} MiB in use, {torch.cuda.memory_reserved() >> 20} MiB held"
    for update in range(160):
        if update < 80 and len(replay) < FRAMES[game]:
            for _ in range(4): replay[len(replay)] = torch.empty(6, 2**20, dtype=torch.uint8, device=dev)
        if update == 100:
            for k in list(replay):
                if k % 3: del replay[k]
        if update == 120:
            stack = torch.empty(96 + 8 * len(replay), 2**20, dtype=torch.uint8, device=dev)
            del stack
        loss = q(torch.randn(64, 512, device=dev)).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
        if update % 20 == 0: print(f"{game}: update {update}, td {loss.item():.4f}, {len(replay)} episodes, {mib()}", flush=True)
        time.sleep(0.05)
    print(f"{game}: finished", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(learner, (os.environ["PORT"],), nprocs=len(GAMES))
