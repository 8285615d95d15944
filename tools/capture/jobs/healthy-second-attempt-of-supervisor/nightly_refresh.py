import json, os, time
from datetime import datetime, timedelta
import torch, torch.distributed as dist
torch.set_num_threads(1)
rank = int(os.environ["RANK"])
def say(m): print(f"{datetime.now():%F %T} [{rank}] {m}", flush=True)
dist.init_process_group("gloo", timeout=timedelta(seconds=15))
done = json.load(open("progress.json"))["part"] if os.path.exists("progress.json") else 0
say(f"refresh starts at part {done}")
for part in range(done, 30):
    t = torch.rand(128); dist.all_reduce(t); time.sleep(0.3)
    say(f"part {part} refreshed, drift {t.mean().item() / 30:.4f}")
    if rank == 0: json.dump({"part": part + 1}, open("progress.json", "w"))
dist.barrier(); say("refresh complete, 30 parts")
dist.destroy_process_group()
