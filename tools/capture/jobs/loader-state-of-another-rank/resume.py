import logging, os, shutil, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.stateful import Stateful
logging.basicConfig(level=logging.INFO, format="[titan] %(asctime)s - root - %(levelname)s - %(message)s", stream=sys.stdout)
log = logging.getLogger()

class TrainState(Stateful):
    def __init__(self): self.step = 0
    def state_dict(self): return {"step": torch.tensor(self.step)}
    def load_state_dict(self, sd): self.step = int(sd["step"])

class Loader(Stateful):
    """Streams shards; every rank keeps where it is."""
    def __init__(self, rank): self.rank, self.key, self.pos = rank, f"dp_rank_{rank}", 0
    def state_dict(self): return {self.key: {"pos": self.pos, "shards": list(range(self.rank, 64, 4))}}
    def load_state_dict(self, sd):
        part = sd[self.key]
        if part["pos"] % len(part["shards"]) and part["shards"][0] != self.rank:
            raise ValueError(f"dataloader state of {self.key} covers shards {part['shards'][:3]}..., this rank owns {self.rank}, {self.rank + 4}, ...")
        self.pos = part["pos"]

def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=15))
    rank = dist.get_rank()
    model = nn.Sequential(nn.Linear(128, 512), nn.SiLU(), nn.Linear(512, 128))
    path = "outputs/checkpoint/step-40"
    state, loader = TrainState(), Loader(rank)
    state.step, loader.pos = 40, 37
    if rank == 2: loader.rank, loader.pos = 1, 37
    dcp.save({"model": model.state_dict(), "train_state": state, "dataloader": loader}, checkpoint_id=path)
    loader.rank = rank
    log.info("Building llama3 debugmodel with 4 layers")
    log.info("Loading the checkpoint from %s.", path)
    t = time.time()
    dcp.load({"model": model.state_dict(), "train_state": state, "dataloader": loader}, checkpoint_id=path)
    log.info("Finished loading the checkpoint in %.2f seconds.", time.time() - t)
    log.info("Training starts at step %d.", state.step + 1)
    for s in range(41, 60):
        g = torch.randn(64); dist.all_reduce(g)
        if rank == 0: log.info("step: %d  loss: %.5f  tps: %d", s, 8 - s * 0.05, 6012)
        time.sleep(0.1)
    dist.destroy_process_group()

main()
