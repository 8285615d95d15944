import argparse, time
from datetime import timedelta
import torch, deepspeed
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--local_rank", type=int); p.add_argument("--zero", type=int)
args = p.parse_args()
torch.cuda.set_device(args.local_rank)
deepspeed.init_distributed(timeout=timedelta(seconds=15))
model = nn.Sequential(nn.Embedding(8000, 512), *[nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(6)], nn.Linear(512, 8000))
cfg = {"train_micro_batch_size_per_gpu": 4, "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}}, "bf16": {"enabled": True},
       "zero_optimization": {"stage": args.zero, "stage3_param_persistence_threshold": 1000}, "steps_per_print": 10}
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=cfg)
rank = engine.global_rank
@torch.no_grad()
def sample(prompt, n=12):
    ids = torch.randint(0, 8000, (1, len(prompt.split())), device=engine.device)
    for _ in range(n):
        ids = torch.cat([ids, engine(ids)[:, -1:].argmax(-1)], 1)
    return ids[0].tolist()
for step in range(1, 60):
    ids = torch.randint(0, 8000, (4, 128), device=engine.device)
    loss = nn.functional.cross_entropy(engine(ids).view(-1, 8000).float(), ids.view(-1))
    engine.backward(loss); engine.step()
    if rank == 0:
        print(f"[sft] step {step} loss {loss.item():.4f}", flush=True)
        if step % 20 == 0:
            print(f"[sft] sampling at step {step}", flush=True)
            print(f"[sft] sample: {sample('how do I reset my password')}", flush=True)
