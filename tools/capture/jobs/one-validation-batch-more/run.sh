# place=/workspace/fsdp2-val limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_FR_DUMP_TEMP_FILE=logs/nccl_trace_rank_ TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/nccl_trace_rank_
export WORLD_SIZE=4
for r in $(seq 0 3); do  RANK=$r LOCAL_RANK=$r python -u train_fsdp.py > logs/fsdp.$r.log 2>&1 & done; wait
