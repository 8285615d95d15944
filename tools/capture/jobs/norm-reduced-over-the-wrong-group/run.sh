# place=/workspace/grid limit=100
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=4000 TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/fr_rank_
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 train_grid.py --tp 2 --dp 2
