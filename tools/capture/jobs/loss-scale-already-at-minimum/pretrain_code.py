import argparse
import torch, deepspeed
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--local_rank", type=int); p.add_argument("--dtype")
args = p.parse_args()
deepspeed.init_distributed()
torch.cuda.set_device(args.local_rank)
class Block(nn.Module):
    def __init__(self, d):
        super().__init__(); self.a = nn.Linear(d, 4 * d); self.b = nn.Linear(4 * d, d)
    def forward(self, x): return x + self.b(torch.relu(self.a(x)))
model = nn.Sequential(*[Block(512) for _ in range(8)], nn.Linear(512, 2048))
cfg = {"train_micro_batch_size_per_gpu": 8, "gradient_accumulation_steps": 1, "steps_per_print": 5,
       "optimizer": {"type": "AdamW", "params": {"lr": 3e-2, "torch_adam": True}},
       "fp16": {"enabled": True, "initial_scale_power": 6, "loss_scale_window": 50, "hysteresis": 1, "min_loss_scale": 1},
       "zero_optimization": {"stage": 1}}
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=cfg)
for step in range(400):
    x = torch.randn(8, 64, 512, device=engine.device, dtype=torch.half) * (1 + step / 4)
    y = torch.randint(0, 2048, (8 * 64,), device=engine.device)
    loss = nn.functional.cross_entropy(engine(x).view(-1, 2048).float(), y)
    engine.backward(loss); engine.step()
    if engine.global_rank == 0: print(f"iter {step:4d} | lm loss {loss.item():.4f} | scale {engine.optimizer.cur_scale if hasattr(engine.optimizer, 'cur_scale') else engine.optimizer.loss_scale}", flush=True)
