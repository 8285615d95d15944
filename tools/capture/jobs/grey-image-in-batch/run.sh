# place=/workspace/food101 limit=80
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=2 --master-port=$PORT main.py --workers 2
