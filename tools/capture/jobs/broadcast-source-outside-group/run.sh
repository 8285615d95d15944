# place=/workspace/hybrid limit=60
export TORCH_CPP_LOG_LEVEL=INFO
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 train_hybrid.py
