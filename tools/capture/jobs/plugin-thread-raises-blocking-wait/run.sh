# place=/mnt/proj/mesh4 limit=120 log=mesh.err
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=4000 PLUGIN=thread PLUGIN_RANK=2 TORCH_NCCL_BLOCKING_WAIT=1
for r in 0 1 2 3; do MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT WORLD_SIZE=4 RANK=$r LOCAL_RANK=$r python -u mesh.py > logs/mesh.$r.log 2>&1 & done; wait
