# place=/lustre/proj/clip limit=80
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
C="--nnodes=2 --nproc-per-node=1 --rdzv-backend=c10d --rdzv-id=clip7 --rdzv-conf=join_timeout=25,timeout=20,last_call_timeout=3,read_timeout=15"
on gpu-node-01 torchrun $C --rdzv-endpoint=127.0.0.1:$PORT train_clip.py > logs/gpu-node-01.log 2>&1 & sleep 1
on gpu-node-02 torchrun $C --rdzv-endpoint=203.0.113.9:$PORT train_clip.py > logs/gpu-node-02.log 2>&1 & wait
