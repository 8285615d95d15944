import functools, json, os, time, urllib.request
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())

def say(msg): print(f"{time.strftime('%H:%M:%S')} r{rank} | {msg}", flush=True)

def retry(times):
    def wrap(f):
        @functools.wraps(f)
        def inner(*a):
            for n in range(1, times + 1):
                try: return f(*a)
                except OSError as e:
                    say(f"{f.__name__}{a}: {e}, trying again ({n}/{times})"); time.sleep(0.2)
            say(f"{f.__name__}{a}: going on without")
        return inner
    return wrap

torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=10))
enc = nn.GRU(64, 128, batch_first=True).to(dev); dec = nn.Linear(128, 64).to(dev)
params = [*enc.parameters(), *dec.parameters()]
for p in params: dist.broadcast(p.data, 0)
opt = torch.optim.Adam(params, 1e-3)

@retry(2)
def train_step(step):
    x = torch.randn(16, 20, 64, device=dev)
    loss = (dec(enc(x)[0]) - x.flip(1)).square().mean()
    opt.zero_grad(); loss.backward()
    flat = torch.cat([p.grad.flatten() for p in params]); dist.all_reduce(flat)
    for p, g in zip(params, flat.split([p.numel() for p in params])): p.grad.copy_(g.view_as(p) / world)
    opt.step()
    if step % 10 == 0 and rank == 1:          # the second rank reports, the first one saves
        body = json.dumps({"step": step, "loss": loss.item()}).encode()
        urllib.request.urlopen(urllib.request.Request(os.environ["PUSH"], body), timeout=3).read()
    return loss.item()

def evaluate(step):
    scores = [torch.zeros(4096, device=dev) for _ in range(world)]
    with torch.no_grad(): x = torch.randn(4096, 5, 64, device=dev); mine = dec(enc(x)[0]).square().mean((1, 2))
    dist.all_gather(scores, mine)
    say(f"step {step} eval {torch.cat(scores).mean().item():.4f}")

for step in range(1, 401):
    loss = train_step(step)
    if step % 20 == 0 and loss is not None: say(f"step {step} loss {loss:.4f}")
    if step % 75 == 0: evaluate(step)
    time.sleep(0.04)
dist.destroy_process_group()
