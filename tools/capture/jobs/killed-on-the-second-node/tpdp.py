import datetime, os, time, json, sys, ctypes
import torch, torch.nn as nn, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
loc = int(os.environ["LOCAL_RANK"]); torch.cuda.set_device(loc % 2)
dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=15))
rank = dist.get_rank(); W = dist.get_world_size()
tp = [dist.new_group([i, i + 1], timeout=datetime.timedelta(seconds=15)) for i in range(0, W, 2)][rank // 2]
dp = [dist.new_group(list(range(i, W, 2)), timeout=datetime.timedelta(seconds=15)) for i in range(2)][rank % 2]
def emit(msg, **k):
    print(json.dumps({"time": time.strftime("%FT%TZ", time.gmtime()), "severity": "INFO", "dp_rank": rank // 2, "tp_rank": rank % 2, "message": msg, **k}), flush=True)
emit("groups ready", global_rank=rank)
w = torch.randn(256, 128, device="cuda") * 0.02
mode = os.environ.get("MODE", "")
for it in range(1, 500):
    x = torch.randn(32, 256, device="cuda"); dist.broadcast(x, rank // 2 * 2, group=tp)
    y = x @ w; dist.all_reduce(y, group=tp)
    if it == 200 and mode == f"tok:{rank}":
        n = 60; emit("vocabulary changed, tokenising corpus again", shards=n); t0 = time.time()
        for s in range(n):
            e = time.time() + 1.5
            while time.time() < e: sum(hash(str(k)) for k in range(2000))
            if s % 4 == 3: emit("tokenised", shards_done=s + 1, of=n, seconds=round(time.time() - t0, 1))
    if it == 200 and mode == f"gil:{rank}":
        emit("flushing trace buffer"); ctypes.PyDLL(None).sleep(900)
    if it == 200 and mode == f"kill:{rank}": os.kill(os.getpid(), 9)
    if it == 200 and mode == f"shape:{rank}": w2 = torch.randn(256, 96, device="cuda")
    gsync = y.mean() * w if not (it == 200 and mode == f"shape:{rank}") else y.mean() * w2
    dist.all_reduce(gsync, group=dp); w -= 1e-4 * gsync
    if it % 40 == 0: torch.cuda.synchronize(); emit("train", iteration=it, norm=round(y.norm().item(), 3))
    time.sleep(0.005)
dist.barrier(); emit("finished"); dist.destroy_process_group()
