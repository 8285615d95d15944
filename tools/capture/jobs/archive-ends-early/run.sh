# place=/data/laion-mini limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
mkdir -p shards; for i in 0 1 2 3 4 5 6 7; do d=$(mktemp -d); for k in 1 2 3; do head -c 200000 /dev/urandom > $d/$k.jpg; done; tar -C $d -czf shards/00$i.tgz .; done; truncate -s 310000 shards/007.tgz
on gpu-node-01 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41  train_wds.py > logs/gpu-node-01.log 2>&1 &
sleep 1; on gpu-node-02 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --local-addr 127.0.0.1  train_wds.py > logs/gpu-node-02.log 2>&1 &
wait
