# place=/opt/diffusion limit=110
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export TORCHELASTIC_LOG_LEVEL=INFO LOGLEVEL=INFO
T="torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=sd15 --max-restarts=1"
on gpu-node-01 $T train_sd.py > logs/gpu-node-01.log 2>&1 &
sleep 9; on gpu-node-02 $T --local-addr 127.0.0.1 train_sd.py > logs/gpu-node-02.log 2>&1 &
wait
