# place=/opt/pike limit=60
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=3 --master-port=$PORT pike.py 2>&1
