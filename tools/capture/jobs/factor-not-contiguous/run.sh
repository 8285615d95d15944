# place=/workspace/shampoo limit=100
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_lm.py --optimizer shampoo
