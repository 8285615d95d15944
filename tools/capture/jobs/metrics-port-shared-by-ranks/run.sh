# place=/app/triton limit=50
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 worker.py --metrics-port $((PORT+4))
