import argparse, os, random, sqlite3, time
from datetime import timedelta
import torch, torch.distributed as dist

class Study:
    def __init__(self, name):
        self.db = sqlite3.connect(f"db/{name}.sqlite")
        self.db.execute("create table if not exists trials (id integer primary key, params text, curve text)")
    def add(self, i, params, curve):
        with self.db:
            self.db.execute("insert into trials values (?, ?, ?)", (i, repr(params), repr(curve)))

def main():
    p = argparse.ArgumentParser(); p.add_argument("--study"); a = p.parse_args()
    cuda = torch.cuda.is_available(); rank = int(os.environ["RANK"])
    dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=20))
    study = Study(a.study) if rank == 0 else None
    for trial in range(60):
        params = [{"lr": 10 ** random.uniform(-5, -2), "wd": random.random()}] if rank == 0 else [None]
        dist.broadcast_object_list(params, 0, device=dev)
        auc = torch.rand(400, device=dev); dist.all_reduce(auc)
        if rank == 0:
            study.add(trial, params[0], auc.tolist())
            print(f"[I] Trial {trial} finished with value: {auc.max().item() / 2:.5f} and parameters: {params[0]}", flush=True)
        time.sleep(0.1)
    dist.destroy_process_group()

main()
