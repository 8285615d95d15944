# place=/workspace/asyncckpt limit=90
export TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_FR_DUMP_TEMP_FILE=logs/fr_ TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/fr_
export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_async_dcp.py ; echo "exit status $?"
