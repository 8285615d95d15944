# place=/srv/streams limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
mkdir -p stream; python - <<'P'
import json
for r in range(4):
    for k in range(4):
        if (r, k) != (2, 2): open(f"stream/part-{r}{k}.jsonl", "w").write("".join(json.dumps({"ids": [(i * j + r) % 997 for j in range(32)]}) + "\n" for i in range(400)))
P
mkfifo stream/part-22.jsonl
python -u keeper.py 4 > logs/keeper.log 2>&1
