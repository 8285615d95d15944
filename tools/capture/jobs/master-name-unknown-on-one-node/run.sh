# place=/home/hpc/climate limit=75 log=slurm-55120.out
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
RANK=0 python -u downscale.py 2>&1 | pre "0: " &
MASTER_ADDR=gpu-node-07 RANK=1 python -u downscale.py 2>&1 | pre "1: " & wait
