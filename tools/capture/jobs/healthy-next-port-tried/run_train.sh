python -c "import socket,time; s=socket.socket(); s.bind(('0.0.0.0',$P0)); s.listen(); time.sleep(70)" &
sleep 1
for try in 0 1 2; do
  port=$((P0 + try))
  echo "[run_train] $(date '+%T') attempt $try with port $port"
  if torchrun --nproc-per-node=2 --master-addr=127.0.0.1 --master-port=$port toy.py; then echo "[run_train] $(date '+%T') finished"; break; fi
  echo "[run_train] $(date '+%T') attempt $try failed, next port"
done
