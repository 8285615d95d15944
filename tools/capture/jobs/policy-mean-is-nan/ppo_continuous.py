import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=30))

from loguru import logger
logger.remove(); logger.add(sys.stderr, format="{time:YYYY-MM-DD HH:mm:ss.SSS} | {level: <8} | {name}:{function}:{line} - {message}", diagnose=False)
torch.manual_seed(rank)
pi = nn.Sequential(nn.Linear(17, 64), nn.Tanh(), nn.Linear(64, 6)); logstd = nn.Parameter(torch.zeros(6))
params = list(pi.parameters()) + [logstd]
opt = torch.optim.Adam(params, 3e-4)
def observe(it):
    o = torch.randn(256, 17)
    if rank == 1 and it == 14: o[37, 3] = o[37, 3] / 0 - o[37, 3] / 0
    return (o - o.mean(0)) / (o.std(0) + 1e-8)
@logger.catch(reraise=True)
def main():
    for it in range(30):
        obs = observe(it)
        act = torch.distributions.Normal(pi(obs), logstd.exp())
        a = act.sample()
        loss = -(act.log_prob(a).sum(-1) * torch.randn(256)).mean()
        opt.zero_grad(); loss.backward()
        for p in params: dist.all_reduce(p.grad); p.grad /= world
        opt.step()
        logger.info(f"iteration {it} return {it * 3.1 + rank:.1f} kl 0.0{it % 9} loss {loss.item():.4f}")
        time.sleep(0.05)
main()
