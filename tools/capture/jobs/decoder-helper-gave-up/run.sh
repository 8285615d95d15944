# place=/workspace/videogen limit=90
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/nccl_trace_rank_
torchrun --nproc-per-node=4 --master-port=$PORT train_wan.py
