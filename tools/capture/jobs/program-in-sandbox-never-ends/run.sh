# place=/opt/grpo-code limit=90
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
on gpu-node-01 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=grpo7 --tee 3 grpo.py --config base > logs/gpu-node-01.log 2>&1 &
sleep 1; on gpu-node-02 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=grpo7 --local-addr 127.0.0.1 --tee 3 grpo.py --config base > logs/gpu-node-02.log 2>&1 &
wait
