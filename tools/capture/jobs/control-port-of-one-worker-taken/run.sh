# place=/srv/stt limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
(exec python -c "
import socket, time
s = socket.socket(); s.bind(('127.0.0.1', $PORT + 4)); s.listen(); time.sleep(90)") & k=$!
sleep 1; python -u stt_server.py --workers 4 --control-port $((PORT + 2)); kill $k
