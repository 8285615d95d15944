import math

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm.auto import tqdm

log = get_logger(__name__, log_level="INFO")


def main():
    acc = Accelerator(gradient_accumulation_steps=2, mixed_precision="fp16", log_with="tensorboard", project_dir="runs")
    acc.init_trackers("detr", {"lr": 1e-3})
    data = TensorDataset(torch.randn(900, 32), torch.randn(900, 4))
    model = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 4))
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, 1, 0.9)
    model, opt, loader, sched = acc.prepare(model, opt, DataLoader(data, batch_size=16, shuffle=True), sched)
    step = 0
    for epoch in range(3):
        for x, y in tqdm(loader, disable=not acc.is_local_main_process, desc=f"epoch {epoch}"):
            with acc.accumulate(model):
                loss = (model(x) - y).abs().mean()
                acc.backward(loss)
                if acc.sync_gradients:
                    norm = acc.clip_grad_norm_(model.parameters(), 0.1)
                    if not math.isfinite(float(norm)):
                        acc.print(f"step {step}: grad norm {float(norm)}, step skipped by the scaler")
                opt.step()
                opt.zero_grad()
            step += 1
        sched.step()
        acc.log({"loss": loss.item()}, step=step)
        acc.save_state(f"runs/epoch_{epoch}")
        acc.print(f"epoch {epoch}: l1 {loss.item():.4f}")
    acc.end_training()


main()
