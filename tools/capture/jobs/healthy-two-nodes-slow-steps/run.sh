# place=/opt/llama-cpt limit=100
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export NCCL_DEBUG=INFO NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_IB_DISABLE=1 NCCL_NET_PLUGIN=none TORCHELASTIC_LOG_LEVEL=INFO
on gpu-node-01 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=cpt-118 --tee 3 cpt.py > logs/gpu-node-01.log 2>&1 &
sleep 1; on gpu-node-02 torchrun --nnodes=2 --nproc-per-node=2 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:$PORT --rdzv-id=cpt-118 --local-addr 127.0.0.1 --tee 3 cpt.py > logs/gpu-node-02.log 2>&1 &
wait
