# place=/home/risk/cv limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=3 --master-port=$PORT cv.py
