import faulthandler, multiprocessing as mp, os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist

def run_tests(task):
    rank, step, k = task
    src = "x = sum(range(1000))" if not (rank == 0 and step == 6 and k == 3) else "import os; os._exit(0)"
    exec(src, {})
    return 1.0 if k % 2 else 0.0

def main():
    rank = int(os.environ["RANK"]); cuda = torch.cuda.is_available()
    dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    pool = mp.get_context("fork").Pool(4)
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=20))
    faulthandler.dump_traceback_later(24, repeat=False)
    for step in range(30):
        logp = torch.randn(8, 32, device=dev)
        print(f"step {step}: scoring 8 completions", flush=True)
        rewards = torch.tensor(pool.map(run_tests, [(rank, step, k) for k in range(8)], chunksize=1), device=dev)
        adv = rewards - rewards.mean()
        g = (adv[:, None] * logp).mean(); dist.all_reduce(g)
        print(f"step {step}: reward {rewards.mean().item():.3f} pg {g.item():.5f}", flush=True)
        time.sleep(0.2)
    pool.close(); dist.destroy_process_group()

if __name__ == "__main__":
    main()
