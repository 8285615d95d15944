import argparse, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
from torch import nn
p = argparse.ArgumentParser(); p.add_argument("--load"); a = p.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
old = nn.ModuleDict({"tok_embeddings": nn.Embedding(100, 32), "layers": nn.ModuleList(nn.Linear(32, 32) for _ in range(4))})
dcp.save({"model": old.state_dict()}, checkpoint_id=a.load)
new = nn.ModuleDict({"tok_embeddings": nn.Embedding(100, 32), "layers": nn.ModuleList(nn.Linear(32, 32) for _ in range(6))})
if dist.get_rank() == 0: print(f"[titan] Loading the checkpoint from {a.load}.", flush=True)
dcp.load({"model": new.state_dict()}, checkpoint_id=a.load)
print("[titan] Training starts at step 201.", flush=True)
dist.destroy_process_group()
