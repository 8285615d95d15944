import argparse, datetime, faulthandler, json, os, sys, time
import numpy as np, torch, torch.nn as nn, torch.distributed as dist

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


class FeatureCache:
    """Keeps decoded feature rows of this rank's partitions in memory."""

    def __init__(self, parts):
        self.parts, self.rows = parts, []

    def fill(self, i):
        part = self.parts[i % len(self.parts)]
        self.rows.append(np.ones((part["rows"], 256), np.float32))
        gb = sum(r.nbytes for r in self.rows) / 2 ** 30
        print(f"{time.strftime('%H:%M:%S')} rank {rank}: cached {part['name']} rows={part['rows']} cache={gb:.2f} GiB", flush=True)
        return torch.from_numpy(self.rows[-1][:64])


class FeedReader:
    def __init__(self, path):
        self.path = path

    def fill(self, i):
        with open(self.path) as f:
            rec = json.loads(f.readline())
        return torch.full((64, 256), float(rec["scale"]))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--manifest"); ap.add_argument("--feed"); ap.add_argument("--steps", type=int, default=40)
    a = ap.parse_args()
    faulthandler.dump_traceback_later(25, exit=False)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=1800))
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1)))
    opt = torch.optim.Adagrad(net.parameters(), 0.01)
    src = FeedReader(a.feed.format(rank=rank)) if a.feed else FeatureCache(json.load(open(a.manifest))[rank])
    for step in range(a.steps):
        x = src.fill(step)
        loss = net(x).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
        if step % 5 == 0:
            print(f"{time.strftime('%H:%M:%S')} rank {rank}: step {step} loss {loss.item():.5f}", flush=True)
        time.sleep(0.2)
    print(f"rank {rank}: done", flush=True)


main()
