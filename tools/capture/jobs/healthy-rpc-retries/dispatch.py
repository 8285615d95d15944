import logging, os, time
import torch, torch.distributed.rpc as rpc
rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger(f"node{rank}")
CALLS = [0]
def simulate(n):
    CALLS[0] += 1
    if rank == 2 and CALLS[0] == 4: time.sleep(4.5)
    if rank == 1 and CALLS[0] == 6: raise ValueError("negative pressure in cell 118, time step too large")
    return float(torch.rand(n).sum())
def main():
    rpc.init_rpc(f"node{rank}", rank=rank, world_size=3, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(rpc_timeout=20))
    if rank == 0:
        total = 0.0
        for k in range(20):
            to, n = f"node{1 + k % 2}", 1000
            for attempt in range(3):
                try:
                    total += rpc.rpc_sync(to, simulate, args=(n,), timeout=3); break
                except RuntimeError as e:
                    log.warning("task %d on %s failed (attempt %d): %s", k, to, attempt + 1, e)
                except ValueError:
                    log.exception("task %d on %s: smaller time step", k, to); n //= 2
            log.info("task %d: total %.1f", k, total)
        log.info("20 of 20 tasks, result %.3f", total)
    rpc.shutdown(); log.info("down")
main()
