import faulthandler, os, signal, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
import scoring
faulthandler.register(signal.SIGTERM, all_threads=False, chain=True)
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=10)); rank = dist.get_rank()
main = rank == 0
m = nn.parallel.DistributedDataParallel(nn.Linear(256, 256).to(dev)); opt = torch.optim.Adam(m.parameters(), 1e-3)
if main: scoring.stem("council"); scoring.start()
for epoch in range(6):
    for it in range(40):
        loss = m(torch.randn(32, 256, device=dev)).square().mean(); opt.zero_grad(); loss.backward(); opt.step(); time.sleep(0.02)
    if main: print(f"epoch {epoch}: train loss {loss.item():.4f}", flush=True)
    r = torch.zeros(1, device=dev)
    if main:
        print(f"epoch {epoch}: scoring 200 summaries", flush=True)
        r += scoring.corpus_rouge(200)
    dist.broadcast(r, 0)
    if main: print(f"epoch {epoch}: rouge-1 {r.item():.3f}", flush=True)
dist.destroy_process_group()
