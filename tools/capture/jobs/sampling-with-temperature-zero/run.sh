# place=/app/rollout limit=90
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 generate_rollouts.py --temperature 0.0
