# place=/opt/recsys limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in 0 1 2 3; do GLOO_SOCKET_IFNAME=$([ $r = 2 ] && echo ib0 || echo lo) RANK=$r LOCAL_RANK=$r python -u embed_tables.py 2>&1 | pre "[1,$r]<stderr>: " & done; wait; echo "mpiexec: all ranks ended"
