import http.client, os, random, time, traceback, urllib.error, urllib.request
from datetime import timedelta
import torch, torch.distributed as dist
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
def p(*a): print(time.strftime("%b %d %H:%M:%S"), f"part[{rank}]", *a, flush=True)
def tile(n, tries=8):
    for k in range(tries):
        try:
            with urllib.request.urlopen(f"{os.environ['TILES']}/t/{n}", timeout=5) as r: return torch.frombuffer(bytearray(r.read()), dtype=torch.uint8).float()
        except (urllib.error.URLError, http.client.HTTPException) as e:
            p(f"ERROR tile {n}: {type(e).__name__}: {e}; try {k + 2} of {tries} in {0.1 * 2 ** k:.1f} s")
            if k == 1: traceback.print_exc()
            time.sleep(0.1 * 2 ** k)
    raise SystemExit(f"tile {n} not readable")
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=25))
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4096, 9).to(dev)); opt = torch.optim.SGD(net.parameters(), 1e-4)
for i in range(60):
    loss = torch.nn.functional.cross_entropy(net(tile(i * world + rank).to(dev)[None]), torch.tensor([i % 9], device=dev))
    opt.zero_grad(); loss.backward(); opt.step()
    if i % 10 == 0: p(f"batch {i} loss {loss.item():.4f}")
p("done, 60 batches"); dist.barrier(); dist.destroy_process_group()
