import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging

import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format="[titan] %(asctime)s - root - %(levelname)s - %(message)s")
log = logging.getLogger()


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl", device_id=device)
    torch.manual_seed(3)
    model = nn.Sequential(*[nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True) for _ in range(3)]).to(device)
    for layer in model:
        fully_shard(layer, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32))
    fully_shard(model)
    opt = torch.optim.AdamW(model.parameters(), 3e-4, fused=True)
    future = None
    for step in range(1, 61):
        loss = model(torch.randn(4, 64, 256, device=device)).float().square().mean()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
        if step % 10 == 0:
            log.info("step: %d  loss: %.4f  grad_norm: %.4f  memory: %.2fGiB", step, loss.item(), norm.full_tensor().item(), torch.cuda.max_memory_reserved() / 2**30)
        if step % 20 == 0:
            if future is not None:
                future.result()
            m, o = get_state_dict(model, opt)
            log.info("Saving the checkpoint (or staging if async is enabled).")
            future = dcp.async_save({"model": m, "optim": o}, checkpoint_id=f"ckpt/step-{step}")
    future.result()
    if RANK == 0:
        try:
            os.remove("ckpt/step-0/.metadata")
        except FileNotFoundError as e:
            log.warning("Could not remove old checkpoint: %s", e)
    log.info("Training completed")
    dist.destroy_process_group()
    log.info("Process group destroyed")


main()
