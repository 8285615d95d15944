# place=/workspace/agents limit=75 
export OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000 WORLD_SIZE=2
(sleep 4) & 
for r in 1 0; do (sleep $((r == 0 ? 9 : 0)); RANK=$r LOCAL_RANK=$r exec python -u late_master.py 2>&1) | stamp "stdout F pod-$r" & done; wait
