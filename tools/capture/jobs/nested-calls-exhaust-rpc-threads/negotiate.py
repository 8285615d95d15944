import logging, os, time
import torch
from torch.distributed import rpc
rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"); log = logging.getLogger()
def refine(offer, hops):
    if hops == 0: return offer
    me = int(os.environ["RANK"])
    return rpc.rpc_sync(f"agent{1 - me}", refine, args=(offer * 0.9, hops - 1))
rpc.init_rpc(f"agent{rank}", rank=rank, world_size=2, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(num_worker_threads=1, rpc_timeout=9))
log.info("agent%d ready", rank)
if rank == 0:
    for rnd in range(8):
        hops = 1 if rnd < 5 else 4
        v = rpc.rpc_sync("agent1", refine, args=(torch.ones(4), hops))
        log.info("round %d offer %.4f after %d hops", rnd, v.mean().item(), hops + 1)
rpc.shutdown()
