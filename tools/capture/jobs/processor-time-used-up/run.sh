# place=/home/stud/mcmc limit=90
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
ulimit -St 24
ulimit -a | grep -i "cpu time"
python -u hmc.py --chains 4
