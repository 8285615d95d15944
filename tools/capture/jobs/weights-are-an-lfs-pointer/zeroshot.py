import argparse, pickle, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--weights"); a = p.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
def load_weights(path):
    """Rank 0 reads, everybody gets."""
    box = [None]
    if rank == 0:
        print(f"=> loading weights from {path}", flush=True)
        with open(path, "rb") as f: box[0] = pickle.load(f)
    dist.broadcast_object_list(box, 0)
    return box[0]
w = load_weights(a.weights)
print(f"rank {rank}: {len(w)} tensors", flush=True)
dist.destroy_process_group()
