# place=/workspace/convert limit=80
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 convert_and_tune.py --from-hf mistral-7b
