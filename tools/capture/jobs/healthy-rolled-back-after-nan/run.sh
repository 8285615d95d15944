# place=/workspace/rollback limit=80
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 train_unstable.py
