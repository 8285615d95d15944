# place=/srv/chat-tp2 limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=2
for r in 0 1; do RANK=$r LOCAL_RANK=$r python -u serve_tp.py > logs/tp$r.log 2>&1 & done; wait
