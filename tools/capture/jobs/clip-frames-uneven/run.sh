# place=/mnt/work/clips limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
C="--nnodes=2 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT"
on vid-01 torchrun $C --node-rank=0 train_clips.py > logs/vid-01.log 2>&1 &
on vid-02 torchrun $C --node-rank=1 train_clips.py > logs/vid-02.log 2>&1 & wait
