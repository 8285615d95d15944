# place=/mnt/ckpts/gpt-xl limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
mkdir -p ckpt; python - <<'P'
import torch
for s in (100, 150, 200):
    for r in range(4):
        if (s, r) != (200, 2): torch.save({"step": s}, f"ckpt/rank{r}-step{s}.pt")
P
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u train_gpt.py --steps 240 > logs/out.$r.txt 2>&1 & done; wait
