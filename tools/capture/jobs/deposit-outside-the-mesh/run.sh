# place=/home/ml/pic limit=90
export OMP_NUM_THREADS=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=2 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
for r in 0 1; do RANK=$r python particle_mesh.py > >(pre "[1,$r]<stdout>:") 2> >(pre "[1,$r]<stderr>:" >&2) & done
wait; sleep 1
