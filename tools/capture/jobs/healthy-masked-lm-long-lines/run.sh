# place=/home/nlp/mlm limit=90
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=2
for r in $(seq 0 1); do  RANK=$r LOCAL_RANK=$r python -u mlm.py 2>&1 | pre "[1,$r]<stderr>: " & done; wait
echo "mpi-run: all ranks ended"
