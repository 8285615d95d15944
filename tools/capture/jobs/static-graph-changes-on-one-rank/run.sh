# place=/workspace/detr limit=90
torchrun --nproc-per-node=2 --master-port=$PORT main.py --two-stage --with-box-refine
