# place=/home/phys/lattice limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=localhost MASTER_PORT=$PORT TORCH_CPP_LOG_LEVEL=INFO TORCH_DISTRIBUTED_DEBUG=INFO
python -u metropolis.py --procs 4; echo "exit status $?"
