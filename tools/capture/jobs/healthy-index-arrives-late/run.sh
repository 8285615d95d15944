# place=/home/ops/retriever limit=90
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p index; python - <<'P'
import json
for r in range(4): json.dump([[(i * k) % 1000 for k in range(32)] for i in range(1000)], open(f"index/queries_{r}.json", "w"))
P
mv index/queries_2.json .q2; (sleep 12.5; cp .q2 index/queries_2.tmp; mv index/queries_2.tmp index/queries_2.json) &
torchrun --nproc-per-node=4 --master-port=$PORT --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --max-restarts=3 --monitor-interval=1 --tee 3 train_retriever.py ; echo "exit code $?"
