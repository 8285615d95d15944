# place=/workspace/segment limit=90
torchrun --standalone --nproc-per-node=2 fit.py
