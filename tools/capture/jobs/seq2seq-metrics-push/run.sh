# place=/home/ivo/s2s limit=75 log=train.log
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=3 PUSH=http://127.0.0.1:$((PORT + 3))
export TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=4000
export TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/nccl_fr_ TORCH_FR_DUMP_TEMP_FILE=logs/nccl_fr_
python -u push_server.py $((PORT + 3)) &
for r in 0 1 2; do RANK=$r LOCAL_RANK=$r python -u s2s.py & w="$w $!"; done; wait $w
