import argparse
import torch, deepspeed
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--local_rank", type=int); p.add_argument("--steps", type=int); p.add_argument("--save"); p.add_argument("--resume", action="store_true")
args = p.parse_args()
torch.cuda.set_device(args.local_rank)
deepspeed.init_distributed()
model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))
cfg = {"train_micro_batch_size_per_gpu": 8, "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}}, "bf16": {"enabled": True}, "zero_optimization": {"stage": 2}}
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=cfg)
start = 0
if args.resume:
    path, state = engine.load_checkpoint(args.save)
    start = state["step"]
    print(f"resumed from {path} at step {start}")
for step in range(start, args.steps):
    x = torch.randn(8, 256, device=engine.device, dtype=torch.bfloat16)
    loss = (engine(x) - x).float().square().mean()
    engine.backward(loss); engine.step()
    if engine.global_rank == 0: print(f"step {step + 1}: loss {loss.item():.4f}", flush=True)
engine.save_checkpoint(args.save, client_state={"step": args.steps})
