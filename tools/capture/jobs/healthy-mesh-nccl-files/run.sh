# place=/opt/mesh-demo limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET NCCL_DEBUG_FILE=logs/nccl.%h.%p.log
export WORLD_SIZE=4
for r in $(seq 0 3); do  RANK=$r LOCAL_RANK=$r python -u mesh_train.py > logs/rank$r.out 2>&1 & done; wait
