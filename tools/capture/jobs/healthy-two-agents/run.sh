# place=/data/elastic limit=75
export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore
C="--nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=run41 --rdzv-conf=join_timeout=35,timeout=35"
TORCH_CPP_LOG_LEVEL=INFO on gpu-node-01 torchrun --nnodes=3 $C train.py > logs/gpu-node-01.log 2>&1 &
sleep 1; on gpu-node-02 torchrun --nnodes=2 $C train.py > logs/gpu-node-02.log 2>&1 & wait
