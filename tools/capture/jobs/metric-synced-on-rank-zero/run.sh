# place=/home/lab/pl-seg limit=90
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 MASTER_PORT=$PORT
python -u fit.py 2>&1; echo "fit.py: $?"
