# place=/home/mei/probe limit=75
export OMP_NUM_THREADS=1
torchrun --nproc-per-node=3 --master-port=$PORT --tee 3 --log-dir logs/probe probe.py
