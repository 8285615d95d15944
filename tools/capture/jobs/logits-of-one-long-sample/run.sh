# place=/workspace/longctx limit=90
export NCCL_DEBUG=INFO
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 sft_long.py --packing none
