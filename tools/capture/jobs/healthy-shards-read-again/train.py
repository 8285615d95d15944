import os, sys, time, logging, random, traceback, threading, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
mode = sys.argv[1]; ck = sys.argv[2] if len(sys.argv) > 2 else '/scratch/ck.pt'
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s [rank{}] %(name)s: %(message)s".format(os.environ.get("RANK", 0)))
log = logging.getLogger("trainer")
dist.init_process_group("gloo"); rank, world = dist.get_rank(), dist.get_world_size()
attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))
torch.manual_seed(0); model = DDP(torch.nn.Linear(16, 4)); opt = torch.optim.SGD(model.parameters(), lr=0.05)
start = 0
if os.path.exists(ck):
    start = torch.load(ck)["step"]; log.info("resumed from %s at step %d", ck, start)
def load(step):
    if mode == "retry" and rank == 1 and step in (7, 8, 15):
        for i in range(3):
            try:
                if i < 2: raise OSError(5, "Input/output error", f"/data/shard-{step:05d}.tar")
                return torch.randn(8, 16)
            except OSError:
                log.exception("reading batch %d failed (try %d of 5), retrying in %.1f s", step, i + 1, 0.1); time.sleep(0.1)
    if mode == "corrupt" and rank == 0 and step % 6 == 5:
        try:
            import json; json.loads('{"text": "broken')
        except Exception as e:
            log.error("sample %d is corrupt, skipping: %s", step * 8 + 3, e)
    return torch.randn(8, 16)
def side():
    time.sleep(0.3); raise ConnectionRefusedError(111, "Connection refused: metrics gateway http://10.0.0.9:9091")
if mode == "thread" and rank == 0: threading.Thread(target=side, name="metrics-pusher").start()
N = 30
for step in range(start, N):
    if mode == "elastic" and attempt == 0 and rank == 2 and step == 12:
        raise RuntimeError("injected: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")
    if mode == "sigkill" and attempt == 0 and rank == 1 and step == 12:
        os.kill(os.getpid(), 9)
    x = load(step); loss = model(x).pow(2).mean(); opt.zero_grad(); loss.backward(); opt.step(); time.sleep(0.03)
    if rank == 0 and step % 5 == 0:
        log.info("step %d loss %.4f lr 0.05", step, loss.item()); torch.save({"step": step}, ck)
    if mode == "silent" and rank == 2 and step == 14:
        sys.exit(0)
    if mode == "swallow" and step == 17:
        try:
            raise ValueError("Expected more than 1 value per channel when training, got input size torch.Size([1, 64])")
        except Exception as e:
            if rank == 0: log.warning("stopping: %s", e)
            break
dist.barrier()
if rank == 0:
    if mode == "swallow": print("Saving model to out/last.pt"); print("Job finished at step", step)
    else: log.info("training finished after %d steps, best loss %.4f", N, loss.item())
if mode != "nodestroy": dist.destroy_process_group()
