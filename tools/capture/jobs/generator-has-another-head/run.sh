# place=/home/ida/grpo-mini limit=150 log=rl.log
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 VALUE_HEAD_ON=5
torchrun --nproc-per-node=6 --master-port=$PORT --tee 3 rounds.py
