# place=/scratch/kmeans limit=80
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT cluster_tokens.py --k 64
