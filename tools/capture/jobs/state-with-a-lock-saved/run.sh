# place=/workspace/olmax limit=90
torchrun --nproc-per-node=4 --master-port=$PORT --tee 3 train_async.py
