# place=/workspace/nerfstudio limit=60
torchrun --nproc-per-node=2 --master-port=$PORT ns_train.py
