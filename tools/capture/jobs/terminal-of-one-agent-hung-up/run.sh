# place=/home/lee/nerf limit=80
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
on gpu-node-01 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41  nerf.py > logs/gpu-node-01.log 2>&1 & p1=$!
sleep 1; on gpu-node-02 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --local-addr 127.0.0.1  nerf.py > logs/gpu-node-02.log 2>&1 & p2=$!
until grep -qs "Iter: 150" logs/gpu-node-02.log; do sleep 0.3; done; kill -HUP $p2; wait $p1; wait $p2
