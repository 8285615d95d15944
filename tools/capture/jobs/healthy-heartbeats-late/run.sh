# place=/srv/fleet/beat limit=95
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
on gpu-node-01 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --log-dir logs/workers --redirects 3 beat_train.py > logs/gpu-node-01.log 2>&1 & p1=$!
sleep 1; on gpu-node-02 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --local-addr 127.0.0.1 --log-dir logs/workers --redirects 3 beat_train.py > logs/gpu-node-02.log 2>&1 & p2=$!
python -u watch.py > logs/watch.log 2>&1 & wait $p1; echo "node 1: $?"; wait $p2; echo "node 2: $?"; touch over; wait
