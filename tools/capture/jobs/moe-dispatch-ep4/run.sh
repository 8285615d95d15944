# place=/home/lin/moe-mini limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
python -u pretrain_moe.py
