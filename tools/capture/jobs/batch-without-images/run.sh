# place=/opt/vlm/train limit=85
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export TORCH_DISTRIBUTED_DEBUG=DETAIL
on gpu-node-01 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --tee 3 sft_vlm.py > logs/gpu-node-01.log 2>&1 &
sleep 1; on gpu-node-02 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --local-addr 127.0.0.1 --tee 3 sft_vlm.py > logs/gpu-node-02.log 2>&1 &
wait
