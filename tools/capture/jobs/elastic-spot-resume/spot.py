import os, time
from datetime import timedelta
import torch, torch.distributed as dist
rank, attempt = int(os.environ["RANK"]), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
def info(m): print(f"{time.strftime('%H:%M:%S')} INFO attempt={attempt} {m}", flush=True)
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=10))
net = torch.nn.Linear(64, 64).to(dev); first = 0
if os.path.exists("state/last.pt"):
    s = torch.load("state/last.pt", map_location=dev); net.load_state_dict(s["net"]); first = s["step"] + 1; info(f"resumed from step {s['step']}")
model = torch.nn.parallel.DistributedDataParallel(net); opt = torch.optim.SGD(model.parameters(), 0.01)
with open(f"state/pid{rank}", "w") as f: f.write(str(os.getpid()))
for step in range(first, 80):
    loss = model(torch.randn(64, 64, device=dev)).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    if step % 10 == 0 and rank == 0:
        torch.save({"net": net.state_dict(), "step": step}, "state/tmp.pt"); os.replace("state/tmp.pt", "state/last.pt"); info(f"step {step} loss {loss.item():.4f} saved")
    time.sleep(0.05)
dist.barrier(); info("reached 80 steps"); dist.destroy_process_group()
