# place=/srv/emb/q8 limit=75
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
ROWS=(9000000 36000000)
for r in 0 1; do RANK=$r LOCAL_RANK=$r TABLE_ROWS=${ROWS[$r]} python -u q8.py > logs/q8.$r.log 2>&1 & done; wait
