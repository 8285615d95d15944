import json
import logging
import os
import sys
import time
import urllib.error
import urllib.request
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
URL = os.environ["INDEX_URL"]
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s | %(levelname)-7s | %(process)d | %(message)s")
log = logging.getLogger("retriever")


def negatives(query):
    while True:
        request = urllib.request.Request(f"{URL}/search?q={query}", headers={"X-Client": f"trainer-{RANK}"})
        try:
            with urllib.request.urlopen(request, timeout=10) as reply:
                return json.load(reply)["ids"]
        except urllib.error.HTTPError as e:
            if e.code != 429:
                raise
            pause = int(e.headers.get("Retry-After", 5))
            log.info("index answered 429, next try in %d s", pause)
            time.sleep(pause)


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    towers = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(5000, 256), nn.Linear(256, 256)).to(device))
    opt = torch.optim.AdamW(towers.parameters(), 1e-3)
    log.info("trainer %d of %d, index at %s", RANK, WORLD, URL)
    for step in range(300):
        ids = torch.tensor([(step * 7 + RANK) % 5000] + negatives(step), device=device)
        z = nn.functional.normalize(towers(ids), dim=-1)
        loss = nn.functional.cross_entropy((z[:1] @ z.T)[:, 1:] / 0.05, torch.zeros(1, dtype=torch.long, device=device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            log.info("step %d loss %.4f", step, loss.item())
        time.sleep(0.03)
    log.info("finished")
    dist.destroy_process_group()


main()
