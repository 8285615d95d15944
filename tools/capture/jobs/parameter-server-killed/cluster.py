import argparse, logging, os, random, signal, threading, time
import torch, torch.multiprocessing as mp
from torch.distributed import rpc
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(processName)s %(levelname)s: %(message)s")
log = logging.getLogger()
TABLE = torch.randn(1000, 16)
calls = 0
def lookup(ids):
    global calls
    calls += 1
    if calls % 50 == 0: log.info("served %d lookups", calls)
    if os.environ.get("PS_ID") == "1" and calls == 121: os.kill(os.getpid(), signal.SIGKILL)
    return TABLE[ids]

def run(i, names):
    name = names[i]
    os.environ["PS_ID"] = name[2:] if name.startswith("ps") else ""
    mp.current_process().name = name
    rpc.init_rpc(name, rank=i, world_size=len(names), rpc_backend_options=rpc.TensorPipeRpcBackendOptions(rpc_timeout=15))
    log.info("joined as worker %d", i)
    if name.startswith("trainer"):
        for step in range(200):
            ids = torch.randint(0, 1000, (64,))
            parts = [rpc.rpc_async(f"ps{k}", lookup, (ids,)) for k in (0, 1)]
            out = sum(f.wait() for f in parts)
            if step % 20 == 0: log.info("step %d ctr loss %.4f", step, out.square().mean().item())
            time.sleep(0.05)
    rpc.shutdown()
    log.info("left")

if __name__ == "__main__":
    p = argparse.ArgumentParser(); p.add_argument("--trainers", type=int); p.add_argument("--ps", type=int); a = p.parse_args()
    names = [f"ps{k}" for k in range(a.ps)] + [f"trainer{k}" for k in range(a.trainers)]
    mp.spawn(run, (names,), len(names))
