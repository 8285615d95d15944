# place=/srv/llm-tp alone=1 limit=70
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export NCCL_DEBUG=WARN WORLD_SIZE=2
sleep 1
RANK=0 LOCAL_RANK=0 GPU_MEM_UTIL=0.90 python -u tp_worker.py > logs/worker-0.log 2>&1 &
RANK=1 LOCAL_RANK=1 GPU_MEM_UTIL=0.9995 python -u tp_worker.py > logs/worker-1.log 2>&1 &
wait
