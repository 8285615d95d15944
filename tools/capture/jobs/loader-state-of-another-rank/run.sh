# place=/data/titan limit=80
export OMP_NUM_THREADS=2
ADDR="--nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=llama3-debug"
on gpu-node-01 torchrun $ADDR resume.py --checkpoint.load_step=40 > logs/gpu-node-01.out 2>&1 &
on gpu-node-02 torchrun $ADDR resume.py --checkpoint.load_step=40 > logs/gpu-node-02.out 2>&1 &
wait
