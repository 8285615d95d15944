# place=/workspace/gan limit=70
torchrun --nproc-per-node=2 --master-port=$PORT train_gan.py --amp
