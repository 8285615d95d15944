# place=/home/ops/wav2vec limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_FR_DUMP_TEMP_FILE=logs/nccl_trace_rank_ TORCH_NCCL_DEBUG_INFO_TEMP_FILE=logs/nccl_trace_rank_
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 pretrain_w2v.py 
