import os, logging
from datetime import timedelta
import torch, torch.distributed as dist, torch.multiprocessing as mp
def main(i, n):
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s gpu{i} %(levelname)s %(message)s")
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{os.environ['PORT']}", rank=i, world_size=n, timeout=timedelta(seconds=9))
    for ep in range(5):
        if i == 2 and ep == 3:
            logging.error("cannot open recordings/0003.wav: sample rate 0"); os._exit(4)
        dist.all_reduce(torch.ones(2)); logging.info("epoch %d", ep)
if __name__ == "__main__":
    mp.spawn(main, (3,), 3)
