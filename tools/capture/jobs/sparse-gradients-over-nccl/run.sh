# place=/workspace/embbag limit=60
torchrun --nproc-per-node=2 --master-port=$PORT train_w2v.py --sparse
