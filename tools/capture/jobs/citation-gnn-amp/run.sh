# place=/scratch/cite limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/fr_
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 --log-dir logs/tr cite.py
