# place=/app/chat limit=80
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT OMP_NUM_THREADS=2 HTTP_PORT=$((PORT + 4)) NCCL_DEBUG=WARN
torchrun --nproc-per-node=2 --master-port=$PORT --tee 3 chat_server.py &
srv=$!
sleep 14
python client.py >/dev/null 2>&1
wait $srv
