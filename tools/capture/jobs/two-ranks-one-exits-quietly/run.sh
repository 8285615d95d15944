# place=/opt/betula limit=60
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=2 --master-port=$PORT betula.py 2>&1
