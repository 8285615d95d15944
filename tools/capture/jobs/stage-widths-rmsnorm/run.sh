# place=/workspace/stages limit=75
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 --log-dir logs/t stages.py
