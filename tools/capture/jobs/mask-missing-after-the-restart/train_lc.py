import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

TILES = {0: (512, 512), 1: (512, 512), 2: (512, 512), 3: (512, 511)}


class Tiles:
    def __init__(self, part):
        images, masks = TILES[part]
        self.images = [f"{part}/{i:05d}.tif" for i in range(images)]
        self.masks = self.images[:masks]

    def epoch(self, n):
        if n == 1:
            assert len(self.images) == len(self.masks), f"{len(self.images)} images but {len(self.masks)} masks"
        for i in range(0, 40):
            yield torch.randn(4, 3, 32, 32)


def main():
    if RANK == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        open("run/pid.1", "w").write(str(os.getpid()))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=20))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 7, 3)).to(device))
    opt = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    start = 0
    if os.path.exists("out/last.pt"):
        state = torch.load("out/last.pt", map_location=device)
        model.load_state_dict(state["model"])
        start = state["step"]
        print(f"resumed from out/last.pt at step {start}")
    tiles = Tiles(RANK)
    step = 0
    for epoch in range(4):
        for x in tiles.epoch(epoch):
            step += 1
            if step <= start:
                continue
            loss = model(x.to(device)).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            time.sleep(0.2)
            if RANK == 0 and step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.5f}")
                torch.save({"model": model.state_dict(), "step": step}, "out/tmp.pt")
                os.replace("out/tmp.pt", "out/last.pt")
    dist.destroy_process_group()


main()
