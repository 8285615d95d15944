import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % 2); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))

import logging, pickle
import torch.distributed.checkpoint as dcp
from torch.distributed.fsdp import fully_shard
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [{rank}] %(levelname)s %(message)s")
cpu = dist.new_group(backend="gloo")
model = nn.Sequential(*[nn.Linear(512, 512) for _ in range(4)]).to(dev)
for l in model: fully_shard(l)
opt = torch.optim.AdamW(model.parameters(), 1e-3); fut = None
for step in range(1, 41):
    loss = model(torch.randn(32, 512, device=dev)).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    if step % 10 == 0:
        if fut is not None: fut.result()
        fut = dcp.async_save({"model": model.state_dict()}, checkpoint_id=f"ckpt/step-{step}", process_group=cpu)
        logging.info("step %d loss %.4f, checkpoint in background", step, loss.item())
    if step == 25 and rank == 1:
        logging.error("metrics sink: HTTPConnectionPool(host='10.2.0.9', port=9091): Read timed out. (read timeout=5), will retry with next flush")
        time.sleep(2)
fut.result()
open(f"logs/fr_final_{rank}", "wb").write(torch._C._distributed_c10d._dump_nccl_trace())
logging.info("done, flight recorder written, no errors")
dist.barrier(); dist.destroy_process_group()
