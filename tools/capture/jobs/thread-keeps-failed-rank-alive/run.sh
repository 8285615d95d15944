# place=/srv/forecast limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=3 TORCH_NCCL_ASYNC_ERROR_HANDLING=0
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r timeout --verbose 45 python -u forecast.py 2>&1 | pre "$r| " & done; wait
echo "all ranks have ended"
