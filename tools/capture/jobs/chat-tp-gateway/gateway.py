import os, random, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, tp = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
def log(level, m): print(f"{level}:     {time.strftime('%H:%M:%S')} tp{rank} - {m}", flush=True)
dist.init_process_group("nccl", timeout=timedelta(seconds=30))
up, down = nn.Linear(1024, 2048 // tp).to(dev), nn.Linear(2048 // tp, 1024).to(dev)
random.seed(4); started = time.time(); n = good = 0
log("INFO", "Application startup complete.")
while True:
    box = [None]
    if rank == 0:
        n += 1
        if n > 160: box = ["stop"]
        else:
            length = random.choice([12, 40, 90, 5000]); deadline = random.random()
            if length > 4096:
                log("ERROR", f"10.2.0.{n % 9}:{40000 + n} - \"POST /v1/chat/completions\" 400 Bad Request: ValueError: prompt of {length} tokens exceeds the model's limit of 4096")
                continue
            if deadline < 0.06:
                log("WARNING", f"request {n} aborted: client disconnected (ConnectionResetError: [Errno 104] Connection reset by peer)")
                continue
            if deadline < 0.1:
                log("ERROR", f"request {n} timed out in the queue after 0.5 s, TimeoutError; client was told 504 and will retry")
                continue
            box = [length]
    dist.broadcast_object_list(box, 0, device=dev)
    if box[0] == "stop": break
    with torch.no_grad():
        for _ in range(10):
            y = down(torch.relu(up(torch.randn(box[0], 1024, device=dev)))); dist.all_reduce(y)
    y.sum().item(); good += 1
    if rank == 0 and good % 20 == 0: log("INFO", f"{good} completed, cache usage 71.3%, preempted 0")
    time.sleep(0.03)
log("INFO", "Shutting down"); dist.destroy_process_group(); log("INFO", "Finished server process")
