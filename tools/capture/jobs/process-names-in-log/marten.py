import logging, multiprocessing as mp, os, sys
from datetime import timedelta
import torch, torch.distributed as dist
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(processName)s %(levelname)s %(message)s")
def body(rank, world):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{os.environ['PORT']}", rank=rank, world_size=world, timeout=timedelta(seconds=8))
    log = logging.getLogger("marten")
    try:
        for i in range(6):
            log.info("segment %d", i)
            if rank == 2 and i == 4: raise OSError(5, "Input/output error", "/mnt/nfs/seg4.bin")
            dist.all_reduce(torch.ones(2))
    except Exception:
        log.exception("stopped")
        sys.exit(1)
if __name__ == "__main__":
    ps = [mp.Process(target=body, args=(r, 3), name=f"marten-{r}") for r in range(3)]
    [p.start() for p in ps]; [p.join() for p in ps]
    logging.error("exit codes: %s", [p.exitcode for p in ps])
