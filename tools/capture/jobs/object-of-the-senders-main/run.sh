# place=/app/mmserve limit=70
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
RANK=0 python frontend.py > logs/frontend.log 2>&1 &
for r in 1 2; do RANK=$r python model_worker.py > logs/model_worker_$r.log 2>&1 & done
wait
