# place=/scratch/gpt limit=75 
mkdir -p ckpt; mount -t tmpfs -o size=24m tmpfs ckpt
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 gpt_small.py 
