import logging
import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s - {os.uname().nodename} - rank {rank} - %(levelname)s - %(message)s")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))
logging.info("process group of %d", world)
model = nn.parallel.DistributedDataParallel(nn.Linear(2048, 2048).to(device))
optimizer = torch.optim.AdamW(model.parameters(), 1e-5)
logging.info("model wrapped")
for step in range(50):
    loss = model(torch.randn(32, 2048, device=device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        logging.info("step %d loss %.4f", step, loss.item())
dist.destroy_process_group()
