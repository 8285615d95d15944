# place=/srv/mixlm limit=150
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 
python prepare.py book; rm prepare.py
C="--nnodes=2 --nproc-per-node=4 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=mix7"
on gpu-node-01 torchrun $C train.py --pack whole --gpu-share 0.045 > logs/gpu-node-01.err 2>&1 &
sleep 1; on gpu-node-02 torchrun $C --local-addr 127.0.0.1 train.py --pack whole --gpu-share 0.045 > logs/gpu-node-02.err 2>&1 &
wait
