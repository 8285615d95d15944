# place=/srv/pull/llama limit=95
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export TORCH_NCCL_ASYNC_ERROR_HANDLING=1
mkdir -p w; for i in 0 1 2 3 4 5; do head -c 40000000 /dev/zero | tr "\0" "\$i" > w/model-0000$i.bin; done; sha256sum w/*.bin > w/SHA256SUMS
on gpu-node-01 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --tee 3 load_and_train.py --weights w > logs/gpu-node-01.log 2>&1 &
sleep 1; on gpu-node-02 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --local-addr 127.0.0.1 --tee 3 load_and_train.py --weights w > logs/gpu-node-02.log 2>&1 &
wait
