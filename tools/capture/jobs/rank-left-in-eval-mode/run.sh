# place=/workspace/segm limit=90
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 TORCH_NCCL_TRACE_BUFFER_SIZE=2000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_deeplab.py
