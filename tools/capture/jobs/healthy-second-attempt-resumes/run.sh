# place=/home/ops/segtrain limit=110
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p out
torchrun --nproc-per-node=4 --master-port=$PORT --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --max-restarts=3 --monitor-interval=1 --tee 3 train_seg2.py ; echo "torchrun ended with $?"
