import argparse
import torch, deepspeed
from torch import nn
p = argparse.ArgumentParser()
p.add_argument("--local_rank", type=int, default=-1)
p = deepspeed.add_config_arguments(p)
args = p.parse_args()
deepspeed.init_distributed()
torch.cuda.set_device(args.local_rank)
model = nn.Sequential(nn.Conv2d(4, 64, 3, padding=1), nn.SiLU(), nn.Conv2d(64, 4, 3, padding=1))
engine, opt, _, _ = deepspeed.initialize(args=args, model=model, model_parameters=model.parameters())
for step in range(50):
    x = torch.randn(4, 4, 32, 32, device=engine.device, dtype=torch.bfloat16)
    loss = (engine(x) - x).float().square().mean()
    engine.backward(loss); engine.step()
    if engine.global_rank == 0: print(f"step {step} loss {loss.item():.4f}")
