import argparse, torch
from torch import nn
from accelerate import Accelerator
p = argparse.ArgumentParser(); p.add_argument("--freeze"); a = p.parse_args()
acc = Accelerator()
model = nn.Sequential(nn.Linear(768, 768), nn.GELU(), nn.Linear(768, 100))
for n, q in model.named_parameters():
    if a.freeze == "all" or n.startswith("0"): q.requires_grad_(False)
acc.print(f"trainable parameters: {sum(q.numel() for q in model.parameters() if q.requires_grad)}")
opt = torch.optim.AdamW(model.parameters(), 1e-3)
model, opt = acc.prepare(model, opt)
for _ in range(5):
    acc.backward(model(torch.randn(8, 768, device=acc.device)).float().mean()); opt.step()
