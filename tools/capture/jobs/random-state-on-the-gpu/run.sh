# place=/workspace/nanochat limit=60
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 mid_train.py --resume
