import faulthandler, json, os, queue, threading, time
from datetime import timedelta
import torch, torch.distributed as dist
faulthandler.dump_traceback_later(35)
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
metrics = queue.Queue(maxsize=8)
def write_metrics():
    with open("metrics.jsonl", "w") as f:
        while True:
            m = metrics.get()
            f.write(json.dumps(m) + "\n"); f.flush()
dist.init_process_group("nccl", timeout=timedelta(seconds=20))
if rank == 0: threading.Thread(target=write_metrics, name="metrics-writer", daemon=True).start()
for step in range(200):
    g = torch.randn(1 << 16, device=dev); dist.all_reduce(g)
    if rank == 0:
        loss = g.abs().mean()
        metrics.put({"step": step, "loss": loss.item() if step != 25 else loss, "qps": 81000})
        if step % 5 == 0: print(f"step {step} ne 0.8{step:03d} qps 81k", flush=True)
    time.sleep(0.05)
dist.destroy_process_group()
