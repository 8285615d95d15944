# place=/workspace/beam limit=80
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 generate.py --beam 4
