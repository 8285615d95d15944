# place=/workspace/gnn limit=75 
mount -t tmpfs -o size=1m tmpfs /dev/shm
export NCCL_DEBUG=WARN NCCL_P2P_DISABLE=1 NCCL_CUMEM_HOST_ENABLE=0
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u gnn_papers.py 2>&1 | pre "[$r]: " & done; wait
