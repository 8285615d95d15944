# place=/workspace/kernels limit=100
export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
echo '{"0": {"BM": 64, "BN": 64, "BK": 64}, "1": {"BM": 256, "BN": 256, "BK": 128}}' > tuned.json
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_fused.py
