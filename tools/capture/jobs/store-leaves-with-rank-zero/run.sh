# place=/opt/evalfarm limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3
for r in 0 1 2; do RANK=$r python -u eval_worker.py --tasks 14 2>&1 | stamp "eval-$r" & done; wait
