# place=/workspace/moco limit=60
torchrun --standalone --nproc-per-node=4 main_moco.py --moco-k 4096 2>&1
