import argparse, datetime, os, random, time
import torch, torch.distributed as dist


def stamp(level, msg):
    r = os.environ["RANK"]
    print(f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S.%f} | {level: <8} | evalkit.rank{r}:run - {msg}", flush=True)


class Task:
    def __init__(self, name, n):
        self.name, self.n = name, n

    def score(self):
        rng = random.Random(self.name)
        return [rng.random() for _ in range(self.n)]

    def predictions(self):
        if self.n > 900:
            return (round(s) for s in self.score())
        return [round(s) for s in self.score()]


def run_tasks(tasks):
    out = {}
    for t in tasks:
        stamp("INFO", f"task {t.name}: {t.n} documents")
        out[t.name] = {"scores": t.score(), "predictions": t.predictions()}
    return out


def bootstrap_ci(scores, iters):
    means = []
    for i in range(iters):
        means.append(sum(random.choices(scores, k=len(scores))) / len(scores))
        if i % (iters // 20) == 0:
            stamp("INFO", f"bootstrap {i}/{iters}")
        time.sleep(0.02)
    means.sort()
    return means[int(.025 * iters)], means[int(.975 * iters)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tasks", nargs="+")
    ap.add_argument("--bootstrap-iters", type=int, default=100)
    a = ap.parse_args()
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if cuda else "gloo", timeout=datetime.timedelta(seconds=10))
    tasks = [Task(*t.split(":")[:1], int(t.split(":")[1])) for t in a.tasks]
    mine = run_tasks(tasks[rank::world])
    gathered = [None] * world
    dist.all_gather_object(gathered, mine)
    if rank == 0:
        for part in gathered:
            for name, res in part.items():
                lo, hi = bootstrap_ci(res["scores"], a.bootstrap_iters)
                stamp("SUCCESS", f"{name}: {sum(res['scores']) / len(res['scores']):.4f} [{lo:.4f}, {hi:.4f}]")
    dist.barrier()
    stamp("INFO", "done")
    dist.destroy_process_group()


main()
