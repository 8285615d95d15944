import argparse, logging, os, time
from datetime import timedelta
import numpy as np, torch, torch.distributed as dist
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger()

def cells(rank):
    return {0: 48211, 1: 1_940_228, 2: 51002}[rank]

def main():
    p = argparse.ArgumentParser(); p.add_argument("--dim", type=int); a = p.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(seconds=18))
    r = dist.get_rank()
    log.info("rank %d: coarse quantizer trained, nlist 4096", r)
    n = cells(r)
    log.info("rank %d: %d vectors in this part", r, n)
    codes = np.zeros((n, 96), np.uint8)
    log.info("rank %d: codes %.1f MiB, computing exact neighbours of the hard part", r, codes.nbytes / 2**20)
    m = n if r == 1 else 2000
    distances = np.empty((m, m), np.float32)
    distances.fill(0)
    t = torch.tensor([distances.shape[0]]); dist.all_reduce(t)
    log.info("rank %d: %d lists merged", r, t.item())
    dist.destroy_process_group()

main()
