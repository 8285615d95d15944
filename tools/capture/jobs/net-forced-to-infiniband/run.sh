# place=/workspace/megatron limit=80
export NCCL_NET=IB NCCL_DEBUG=INFO
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 pretrain_t5.py
