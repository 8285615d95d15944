# place=/data/ann/embed limit=75
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=2 --master-port=$PORT embed.py
