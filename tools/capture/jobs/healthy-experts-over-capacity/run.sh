# place=/work/moe limit=150 log=moe.err
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 
torchrun --nproc-per-node=4 --master-port=$PORT moe.py
