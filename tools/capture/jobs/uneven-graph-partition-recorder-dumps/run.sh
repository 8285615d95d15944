# place=/home/ml/graphs limit=110
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4
export TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=4000
export TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/nccl_trace_rank_ TORCH_FR_DUMP_TEMP_FILE=logs/nccl_trace_rank_
for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r python -u sage_papers.py --fanout 15,10 > logs/sage.$r.log 2>&1 & done
wait
