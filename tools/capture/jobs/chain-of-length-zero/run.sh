# place=/home/bio/fold limit=100 log=fit.err
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_PORT=$PORT
python -u fit_contacts.py
