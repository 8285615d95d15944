# place=/data/icu/ts limit=60
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 TORCH_NCCL_ASYNC_ERROR_HANDLING=0 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u ts.py > logs/ts.$r.log 2>&1 & done; wait
