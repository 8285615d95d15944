import argparse, torch
from torch import nn
from accelerate import Accelerator
from accelerate.logging import get_logger
import logging
logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s")
p = argparse.ArgumentParser(); p.add_argument("--out"); p.add_argument("--steps", type=int); p.add_argument("--resume", action="store_true"); p.add_argument("--train-embeddings", action="store_true")
a = p.parse_args()
acc = Accelerator(); log = get_logger("finetune")
emb, body = nn.Embedding(500, 64), nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 500))
model = nn.Sequential(emb, body)
if not a.train_embeddings: emb.requires_grad_(False)
opt = torch.optim.AdamW([q for q in model.parameters() if q.requires_grad], 1e-4)
model, opt = acc.prepare(model, opt)
if a.resume:
    log.info(f"resuming from {a.out}/state")
    acc.load_state(f"{a.out}/state")
for s in range(a.steps):
    ids = torch.randint(0, 500, (4, 32), device=acc.device)
    loss = nn.functional.cross_entropy(model(ids).view(-1, 500), ids.view(-1))
    acc.backward(loss); opt.step(); opt.zero_grad(); log.info(f"step {s} loss {loss.item():.3f}")
acc.save_state(f"{a.out}/state")
