import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import itertools
import logging

from tokenizers import Tokenizer, models

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(levelname).1s TP%(tp)s %(message)s", datefmt="%m%d %H:%M:%S")
logging.setLogRecordFactory(lambda *a, f=logging.getLogRecordFactory(), **k: (lambda r: (setattr(r, "tp", RANK), r)[1])(f(*a, **k)))
log = logging.getLogger("serve")
VOCAB = 2048


class Shard(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 256)
        self.up, self.down = nn.Linear(256, 512 // WORLD), nn.Linear(512 // WORLD, 256)

    @torch.no_grad()
    def forward(self, ids):
        x = self.emb(ids)
        y = self.down(torch.relu(self.up(x)))
        dist.all_reduce(y)
        return (x + y) @ self.emb.weight.T


def incoming():
    for n in itertools.count(1):
        yield {"id": f"cmpl-{n:04d}", "prompt": [(n * k) % VOCAB for k in range(1, 20)], "stop": -1 if n == 23 else None, "max_tokens": 8}


def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=18))
    torch.manual_seed(0)
    model = Shard().to(device)
    tok = Tokenizer(models.WordLevel({f"t{i}": i for i in range(VOCAB)}, unk_token="t0"))
    log.info("model ready, listening on :8000")
    requests = incoming()
    while True:
        job = [next(requests) if RANK == 0 else None]
        dist.broadcast_object_list(job, 0, device=device)
        req = job[0]
        ids = list(req["prompt"])
        for _ in range(req["max_tokens"]):
            nxt = model(torch.tensor(ids, device=device))[-1].argmax()
            dist.broadcast(nxt, 0)
            ids.append(nxt.item())
        if RANK == 0:
            out = ids[len(req["prompt"]):]
            if req["stop"] is not None:
                out.append(req["stop"])
            log.info("%s finished, %d tokens: %s", req["id"], len(out), tok.decode(out)[:24])
        time.sleep(0.1)


main()
