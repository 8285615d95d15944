import logging, os, sys, time
import torch, torch.distributed.rpc as rpc
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
NAMES = ["coordinator", "ps0", "ps1"]
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {NAMES[rank]}[%(process)d] %(levelname)s %(message)s")
log = logging.getLogger()
TABLE = {}

def create(name, rows, dim):
    TABLE[name] = torch.randn(rows, dim)
    log.info("created %s [%d, %d]", name, rows, dim)

def lookup(name, ids):
    return TABLE[name][ids]

def rebalance(victim):
    moved = TABLE.pop(victim)
    log.info("moved %s away (%d rows)", victim, len(moved))

def main():
    rpc.init_rpc(NAMES[rank], rank=rank, world_size=world, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(num_worker_threads=8, rpc_timeout=15))
    if rank == 0:
        for i in range(6):
            rpc.rpc_sync(NAMES[1 + i % 2], create, args=(f"emb_{i}", 1000, 16))
        for step in range(30):
            if step == 18:
                rpc.rpc_sync("ps1", rebalance, args=("emb_3",))
            rows = [rpc.rpc_async(NAMES[1 + i % 2], lookup, args=(f"emb_{i}", torch.randint(0, 1000, (32,)))) for i in range(6)]
            x = torch.cat([r.wait() for r in rows], 1)
            if step % 5 == 0: log.info("step %d norm %.3f", step, x.norm())
            time.sleep(0.1)
    rpc.shutdown()
    log.info("bye")

main()
