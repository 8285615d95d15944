"""Four stages, each a process; micro-batches go forward and gradients back."""

import os, sys, time
from datetime import timedelta

import torch
import torch.distributed as dist
from loguru import logger

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logger.remove()
logger.add(sys.stderr, format="{time:YYYY-MM-DD HH:mm:ss.SSS} | {level: <8} | stage " + str(rank) + " | {message}")
MICRO = int(os.environ.get("MICRO_BATCHES", 6))
WIDTH, ROWS = 1024, 256
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
dist.init_process_group("nccl", timeout=timedelta(seconds=20), device_id=torch.device("cuda", torch.cuda.current_device()))
torch.manual_seed(rank)
layer = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU()) for _ in range(3)]).cuda()
if os.environ.get("COMPILE"):
    layer = torch.compile(layer)
opt = torch.optim.SGD(layer.parameters(), lr=float(os.environ.get("LR", 0.01)))


def target(step, m):
    g = torch.Generator(device="cuda").manual_seed(step * 97 + m)
    return torch.randn(ROWS, WIDTH, device="cuda", generator=g)


def vocabulary(step):
    """The last stage looks up the words of the next step."""
    if step == int(os.environ.get("REFRESH", -1)):
        path = os.environ["INDEX"]
        waited = 0
        while not os.path.exists(path):
            time.sleep(0.05); waited += 1
    return None


def step_once(step):
    kept, losses = [], []
    for m in range(MICRO):
        if rank == 0:
            x = torch.randn(ROWS, WIDTH, device="cuda")
        else:
            x = torch.empty(ROWS, WIDTH, device="cuda")
            dist.recv(x, src=rank - 1)
        x.requires_grad_(True)
        y = layer(x)
        kept.append((x, y))
        if rank < world - 1:
            dist.send(y.detach(), dst=rank + 1)
        else:
            loss = torch.nn.functional.mse_loss(y, target(step, m))
            losses.append(loss)
    for m in range(MICRO):
        x, y = kept[m]
        if rank == world - 1:
            losses[m].backward()
        else:
            g = torch.empty(ROWS, WIDTH, device="cuda")
            dist.recv(g, src=rank + 1)
            y.backward(g)
        if rank > 0:
            dist.send(x.grad, dst=rank - 1)
    opt.step()
    opt.zero_grad()
    return sum(l.item() for l in losses) / MICRO if losses else None


def main():
    steps = int(os.environ.get("STEPS", 60))
    logger.info("stage {} of {} on {}, {} micro-batches", rank, world, torch.cuda.get_device_name(), MICRO)
    began = time.time()
    for step in range(steps):
        loss = step_once(step)
        if rank == world - 1:
            if not (loss < 1e4):
                logger.error("loss {} at step {} is out of range, giving up", loss, step)
                sys.exit(3)
            if step % 4 == 0:
                logger.info("step {} loss {:.5f} {:.2f}s", step, loss, time.time() - began)
        vocabulary(step) if rank == world - 2 else None
        if step % 20 == 19:
            logger.debug("stage {} peak {:.0f} MiB", rank, torch.cuda.max_memory_allocated() / 2**20)
    logger.success("finished {} steps", steps)
    dist.destroy_process_group()


try:
    main()
except Exception:
    logger.exception("stage {} stops", rank)
    raise
