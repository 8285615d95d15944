# place=/users/lea/gneiss limit=60 log=slurm-90211.out
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 OMP_NUM_THREADS=1
(export RANK=0 SCRATCH=/tmp; python -u gneiss.py 2>&1 | pre "0: ") & (export RANK=1; unset SCRATCH; python -u gneiss.py 2>&1 | pre "1: ") & wait
