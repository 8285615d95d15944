# place=/opt/fsdp/stable limit=95
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export NCCL_BLOCKING_WAIT=0 NCCL_ASYNC_ERROR_HANDLING=1 TORCH_NCCL_AVOID_RECORD_STREAMS=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True NCCL_DEBUG=WARN; touch /mnt/none
on gpu-node-01 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --tee 3 train_stable.py > logs/gpu-node-01.log 2>&1 & p1=$!
sleep 1; on gpu-node-02 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=job41 --local-addr 127.0.0.1 --tee 3 train_stable.py > logs/gpu-node-02.log 2>&1 & p2=$!
wait $p1; echo "node 1 $?"; wait $p2; echo "node 2 $?"
