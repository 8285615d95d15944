# place=/workspace/pippy limit=100
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 pipeline_train.py --microbatches 4
