import argparse, fcntl, logging, os, time
from datetime import timedelta
import numpy as np
import torch
import torch.distributed as dist
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-7s %(name)s %(message)s")
log = logging.getLogger("mt.data")


class CachedShards:
    """Token ids of one language pair; the first process that needs a shard writes it to the cache."""

    def __init__(self, pair, root="cache"):
        self.pair, self.root = pair, root

    def tokenise(self, n):
        rng = np.random.default_rng(hash((self.pair, n)) % 2**32)
        time.sleep(0.1)
        return rng.integers(0, 4000, 16 * 64 * 12)

    def __getitem__(self, n):
        base = f"{self.root}/{self.pair}-{n:02d}"
        with open(base + ".lock", "w") as lock:
            log.info("locking %s.lock", base)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(base + ".npy"):
                np.save(base + ".npy", self.tokenise(n))
        log.info("shard %s: 12 batches", os.path.basename(base))
        return np.load(base + ".npy").reshape(12, 16, 64)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", nargs="+")
    args = parser.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local % torch.cuda.device_count())
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=10))
    rank = dist.get_rank()
    shards = CachedShards(args.pairs[rank])
    model = nn.Sequential(nn.Embedding(4000, 64), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 4000)).to(device)
    model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-4)
    step = 0
    for n in range(20):
        for batch in shards[n]:
            ids = torch.from_numpy(batch).to(device)
            loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            optimizer.zero_grad(); loss.backward(); optimizer.step()
            step += 1
            if step % 12 == 0 and rank == 0:
                logging.getLogger("mt").info("step %d loss %.4f", step, loss.item())
    dist.destroy_process_group()


main()
