# place=/workspace/ssl-vision limit=80
torchrun --nproc-per-node=2 --master-port=$PORT dino.py
