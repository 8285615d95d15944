import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

def main():
    p = argparse.ArgumentParser(); p.add_argument("--microbatches", type=int); a = p.parse_args()
    cuda = torch.cuda.is_available(); rank = int(os.environ["RANK"])
    dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=15))
    part = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 256)).to(dev)
    stage = PipelineStage(part, rank, 2, dev)
    sched = Schedule1F1B(stage, a.microbatches, loss_fn=nn.functional.mse_loss)
    opt = torch.optim.SGD(part.parameters(), 0.01)
    samples = 330
    for step, start in enumerate(range(0, samples, 32)):
        n = min(32, samples - start)
        x, y = torch.randn(n, 256, device=dev), torch.randn(n, 256, device=dev)
        if rank == 0:
            sched.step(x)
        else:
            losses = []; sched.step(target=y, losses=losses)
            print(f"step {step} samples {start + n}/{samples} loss {torch.stack(losses).mean().item():.4f}", flush=True)
        opt.step(); opt.zero_grad(); time.sleep(0.1)
    dist.destroy_process_group()

main()
