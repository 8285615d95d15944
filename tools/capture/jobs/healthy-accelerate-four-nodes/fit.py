import os, time, random
from datetime import timedelta

import torch
from accelerate import Accelerator, InitProcessGroupKwargs
from accelerate.logging import get_logger
import logging

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = get_logger(__name__)
MODE = os.environ.get("RECIPE", "")
acc = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2, kwargs_handlers=[InitProcessGroupKwargs(timeout=timedelta(seconds=25))])
torch.manual_seed(4)


class Pairs(torch.utils.data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        size = 64
        return torch.randn(3, size, size, generator=g), torch.tensor(i % 10)


net = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3, 2, 1), torch.nn.ReLU(), torch.nn.Conv2d(32, 64, 3, 2, 1), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10))
opt = torch.optim.AdamW(net.parameters(), 1e-3)
train = torch.utils.data.DataLoader(Pairs(1024), batch_size=16, shuffle=True, num_workers=2)
val = torch.utils.data.DataLoader(Pairs(200), batch_size=16)
net, opt, train, val = acc.prepare(net, opt, train, val)
logger.info(acc.state, main_process_only=True)
best = 1e9
for epoch in range(4):
    net.train()
    for i, (x, y) in enumerate(train):
        with acc.accumulate(net):
            loss = torch.nn.functional.cross_entropy(net(x), y)
            acc.backward(loss)
            opt.step(); opt.zero_grad()
        if i % 8 == 0:
            logger.info(f"epoch {epoch} step {i} loss {loss.item():.4f}")
    net.eval()
    total = 0.0
    if MODE == "main-only-gather" and epoch == 2:
        if acc.is_main_process:
            preview = acc.gather(net(next(iter(val))[0]))
            logger.info(f"preview {tuple(preview.shape)}")
    for x, y in val:
        with torch.no_grad():
            out, ref = acc.gather_for_metrics((net(x).argmax(-1), y))
        total += (out == ref).float().sum().item()
    score = 1 - total / 200
    logger.info(f"epoch {epoch} error {score:.4f}")
    if MODE == "local-best":
        score += random.random() * 0.3 if acc.process_index else 0
        improved = score < best
        best = min(best, score)
        if improved:
            acc.wait_for_everyone()
            acc.save_state(f"ckpt/best")
    elif MODE == "bad-cast" and epoch == 1 and acc.process_index == 3:
        weights = {k: v.numpy() for k, v in acc.unwrap_model(net).state_dict().items()}
    else:
        acc.wait_for_everyone()
        acc.save_state(f"ckpt/e{epoch}")
logger.info("training complete", main_process_only=True)
acc.end_training()
