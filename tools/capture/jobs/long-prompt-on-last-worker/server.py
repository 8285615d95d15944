"""Tensor-parallel generation server: the parent schedules, two workers compute."""
import argparse, logging, os, queue, sys, time, threading
from datetime import timedelta
import torch, torch.distributed as dist
import torch.multiprocessing as mp

def worker(rank, world, requests, results, args):
    logging.basicConfig(level=logging.INFO, format=f"%(levelname)s %(asctime)s tp_worker.py:%(lineno)d] [TP{rank}] %(message)s", datefmt="%m-%d %H:%M:%S")
    log = logging.getLogger("tp")
    cuda = torch.cuda.is_available()
    dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", rank=rank, world_size=world, timeout=timedelta(seconds=20))
    wq = torch.randn(4096, 2048, device=dev, dtype=torch.bfloat16) * 0.01
    log.info("weights loaded, %.2f GiB", 0.42)
    rerank = torch.randn(4096, 4096, device=dev, dtype=torch.bfloat16) if rank == 1 else None
    while True:
        item = requests.get()
        if item is None: break
        rid, n = item
        h = torch.randn(n, 4096, device=dev, dtype=torch.bfloat16)
        q = h @ wq
        if rerank is not None and n > 8192:
            # pairwise scores for the context picker live on the last worker
            scores = (h @ rerank) @ h.t()
            scores = torch.softmax(scores.float(), -1)
        s = q.float().mean(0)
        dist.all_reduce(s)
        if rank == 0: results.put((rid, n, s.norm().item()))
    dist.destroy_process_group()

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--model"); p.add_argument("--tensor-parallel-size", type=int); p.add_argument("--max-model-len", type=int)
    a = p.parse_args()
    ctx = mp.get_context("spawn")
    qs, res = [ctx.Queue() for _ in range(a.tensor_parallel_size)], ctx.Queue()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(asctime)s api_server.py:%(lineno)d] %(message)s", datefmt="%m-%d %H:%M:%S")
    log = logging.getLogger("api")
    log.info("args: %s", vars(a))
    ps = [ctx.Process(target=worker, args=(r, a.tensor_parallel_size, qs[r], res, a), name=f"tp_worker_{r}") for r in range(a.tensor_parallel_size)]
    for q in ps: q.start()
    for k, n in enumerate([512, 1900, 730, 4096, 2200, 9000, 640, 251904, 800, 1200]):
        rid = f"cmpl-{0x7f3a20 + k * 977:x}"
        log.info("Received request %s: prompt tokens %d, max_tokens 256", rid, n)
        for q in qs: q.put((rid, n))
        while True:
            try:
                got = res.get(timeout=1); break
            except queue.Empty:
                dead = [q for q in ps if q.exitcode is not None]
                if dead:
                    log.error("worker %s died with exit code %s, shutting down", dead[0].name, dead[0].exitcode)
                    time.sleep(25)
                    for q in ps: q.kill()
                    sys.exit(1)
        log.info("Finished request %s: %d tokens in %.2f s", rid, 256, 0.41 + n / 9000)
        time.sleep(0.2)
    for q in qs: q.put(None)
    for q in ps: q.join()

if __name__ == "__main__":
    main()
