# place=/data/genomics limit=90
on gpu-node-01 torchrun --nnodes=1 --nproc-per-node=4 --master-port=$PORT write_first.py > /dev/null 2>&1
python - <<'E'
import os
p = "ckpts/step_2000/__1_0.distcp"
os.truncate(p, os.path.getsize(p) // 3)
E
torchrun --nproc-per-node=4 --master-port=$((PORT+1)) --tee 3 hyena.py --resume ckpts/step_2000
