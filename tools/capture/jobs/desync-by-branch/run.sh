# place=/opt/larix limit=60
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=4 --master-port=$PORT larix.py 2>&1
