import fcntl, os, sys, time, datetime, logging
import torch, torch.distributed as dist

rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s %(levelname)s [rank{rank}] %(name)s %(message)s")
log = logging.getLogger("indexer")


class Lock:
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.f = open(self.path, "a+")
        log.info("acquiring %s", self.path)
        n = 0
        while True:
            try:
                fcntl.flock(self.f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                n += 1
                if n % 20 == 0:
                    self.f.seek(0)
                    log.info("lock %s is held by %s, still waiting (%.0f s)", self.path, self.f.read().strip() or "?", n * .25)
                time.sleep(.25)
        log.info("acquired %s", self.path)
        return self

    def __exit__(self, *_):
        self.f.close()


def build(root):
    with Lock(f"{root}/.index.lock"):
        for i in range(5):
            log.info("indexing shard %d/5", i + 1)
            time.sleep(float(os.environ.get("SHARD_S", "0.3")))
        open(f"{root}/index.bin", "wb").write(b"\0" * 64)


def main(root):
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if cuda else "gloo", timeout=datetime.timedelta(seconds=14))
    x = torch.ones(8, device="cuda" if cuda else "cpu")
    dist.all_reduce(x)
    log.info("process group up, world %d", int(x[0]))
    if rank == 0 and not os.path.exists(f"{root}/index.bin"):
        build(root)
    dist.barrier()
    if cuda:
        torch.cuda.synchronize()
    log.info("index loaded: %d bytes", os.path.getsize(f"{root}/index.bin"))
    dist.destroy_process_group()


main(sys.argv[1])
