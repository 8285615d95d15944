import ctypes, logging, os, sys, time
from datetime import timedelta

import torch
import torch.distributed as dist

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.basicConfig(level=logging.INFO, format=f"[%(asctime)s][{rank}] %(message)s")
log = logging.getLogger()
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
dist.init_process_group("nccl", timeout=timedelta(seconds=25))
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("dp", "tp"))
dp, tp = mesh.get_group("dp"), mesh.get_group("tp")
w = torch.randn(512, 512, device="cuda", requires_grad=True)
EVENT, WHERE, WHEN = os.environ.get("PLUGIN", ""), int(os.environ.get("PLUGIN_RANK", -1)), 12


def plugin(step, x):
    """Site's own per-step hook."""
    if rank != WHERE or step != WHEN:
        return x
    if EVENT == "native":
        ctypes.PyDLL(None).sleep(ctypes.c_uint(70))
    if EVENT == "lookup":
        index = torch.arange(x.shape[0], device="cuda") + 400
        x = x[index]
    if EVENT == "drain":
        time.sleep(60)
    if EVENT == "spin":
        torch.cuda._sleep(int(1.9e9 * 60))
    if EVENT == "unit":
        x = x / int(os.environ.get("UNIT", "0"))
    if EVENT == "leave":
        log.warning("plugin: quota reached")
        raise SystemExit(0)
    if EVENT == "cache":
        cache = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(200)]
    if EVENT == "thread":
        import threading, queue
        answers = queue.Queue()
        threading.Thread(target=lambda: answers.put({"scale": 1.0}["shift"]), daemon=True).start()
        x = x * answers.get()
    if EVENT == "native-free":
        libc = ctypes.CDLL(None)
        libc.free(ctypes.c_void_p(0x10008))
    return x


def forward(step):
    x = torch.randn(512, 512, device="cuda")
    x = plugin(step, x)
    y = x @ w if not (EVENT == "narrow" and rank == WHERE and step >= WHEN) else (x @ w)[:500]
    if not (EVENT == "half" and rank == WHERE and step == WHEN):
        dist.all_reduce(y, group=tp)
    parts = [torch.empty_like(y) for _ in range(2)]
    dist.all_gather(parts, y.detach(), group=tp)
    return y.pow(2).mean()


for step in range(40):
    loss = forward(step)
    loss.backward()
    dist.all_reduce(w.grad, group=dp)
    w.data -= 1e-4 * w.grad
    w.grad = None
    if step % 4 == 0 and rank == 0:
        log.info("step %d loss %.4f", step, loss.item())
dist.barrier()
if rank == 0:
    log.info("finished")
dist.destroy_process_group()
