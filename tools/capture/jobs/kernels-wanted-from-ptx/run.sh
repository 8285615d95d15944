# place=/home/mila/graphs limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
for r in $(seq 0 3); do X=0; [ $r = 2 ] && X=1; CUDA_FORCE_PTX_JIT=$X RANK=$r LOCAL_RANK=$r python -u gin.py 2>&1 | stamp "task-$r" & done; wait
