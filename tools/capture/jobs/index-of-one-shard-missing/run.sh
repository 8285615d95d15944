# place=/data/pile limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p shards; python - <<'P'
import numpy as np
for r in range(4):
    np.arange(20000, dtype=np.uint16).tofile(f"shards/pile_{r:05d}.bin")
    if r != 2: np.arange(0, 20000, 100, dtype=np.int64).tofile(f"shards/pile_{r:05d}.idx")
P
torchrun --nproc-per-node=4 --master-port=$PORT --max-restarts=2 --monitor-interval=1 pretrain_lm.py --data shards 
