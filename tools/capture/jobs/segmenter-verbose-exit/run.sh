# place=/home/vis/seg limit=75
export OMP_NUM_THREADS=1 TORCH_DISTRIBUTED_DEBUG=INFO TORCH_CPP_LOG_LEVEL=INFO NCCL_DEBUG=INFO
torchrun --nproc-per-node=2 --master-port=$PORT seg.py
