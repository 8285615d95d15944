# place=/scratch/jobs/mae limit=70 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export WORLD_SIZE=4 MASTER_ADDR=127.0.0.1
for r in 0 1 2 3; do
  p=$PORT; [ $r = 2 ] && p=$((PORT + 3))
  on gpu-node-0$((r + 1)) env MASTER_PORT=$p RANK=$r LOCAL_RANK=$r python -u mae.py > logs/mae_rank$r.log 2>&1 &
done; wait
