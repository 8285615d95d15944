# place=/home/hpc/zero3 limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 NCCL_DEBUG=WARN
. ./nccl.env
torchrun --nproc-per-node=3 --master-port=$PORT zero3.py
