# place=/data/ckpts/conv limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p shards; python - <<'P'
import torch
from torch import nn
for r in range(4):
    d = 128 if r != 1 else 256
    torch.save({"model": nn.ModuleDict({"up": nn.Linear(512, d), "down": nn.Linear(d, 512)}).state_dict(), "iteration": 4000, "tp": 4 if r != 1 else 2}, f"shards/mp_rank_{r:02d}.pt")
P
torchrun --nproc-per-node=4 --master-port=$PORT --redirects 3 --tee 3 --log-dir logs sft_from_shards.py --load shards 
