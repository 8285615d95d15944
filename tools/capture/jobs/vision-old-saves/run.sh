# place=/home/lea/vision limit=75 log=slurm-77210.out
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2
mkdir -p saves; python - <<'P'
import torch
from torch import nn
s = nn.Sequential(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32)).state_dict(); s["head.weight"] = torch.zeros(10, 32)
for n in (1000, 2000, 3000): torch.save({"model": s, "pad": torch.zeros(100000)}, f"saves/{n}.pt")
P
truncate -s 100000 saves/3000.pt
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u resume.py 2>&1 | pre "$r:" & done; wait
