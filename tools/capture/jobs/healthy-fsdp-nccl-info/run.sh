# place=/workspace/fsdp-lm limit=100
export NCCL_DEBUG=INFO NCCL_NET_PLUGIN=aws-ofi NCCL_IB_HCA=mlx5 TORCH_DISTRIBUTED_DEBUG=INFO
on gpu-node-01 torchrun --nnodes=2 --node-rank=0 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT lm.py > logs/gpu-node-01.log 2>&1 &
on gpu-node-02 torchrun --nnodes=2 --node-rank=1 --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$PORT lm.py > logs/gpu-node-02.log 2>&1 &
wait
