import argparse, torch, deepspeed
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--local_rank", type=int); p.add_argument("--share", type=float)
a = p.parse_args(); torch.cuda.set_device(a.local_rank); torch.cuda.set_per_process_memory_fraction(a.share); deepspeed.init_distributed()
class Layer(nn.Module):
    def __init__(self, d=256):
        super().__init__(); self.q = nn.Linear(d, d); self.k = nn.Linear(d, d); self.v = nn.Linear(d, d)
    def forward(self, x):
        s = self.q(x) @ self.k(x).transpose(1, 2) / 16
        return x + s.softmax(-1) @ self.v(x)
model = nn.Sequential(*[Layer() for _ in range(4)], nn.Linear(256, 256))
engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": True}, "zero_optimization": {"stage": 2}, "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}}})
for step in range(40):
    n = 2048 if not (engine.global_rank == 1 and step == 22) else 40960
    x = torch.randn(1, n, 256, device=engine.device, dtype=torch.bfloat16)
    loss = (engine(x) - x).float().square().mean(); engine.backward(loss); engine.step()
    print(f"[{engine.global_rank}] step {step} tokens {n} loss {loss.item():.4f} peak {torch.cuda.max_memory_allocated() >> 20} MiB", flush=True)
