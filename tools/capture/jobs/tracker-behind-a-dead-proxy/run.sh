# place=/home/speech/asr limit=80 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
python - <<'P' &
import socket, threading, time, http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"])); self.send_response(200); self.send_header("Content-Length", "2"); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *a): pass
threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", 8651), H).serve_forever, daemon=True).start()
s = socket.socket(); s.bind(("127.0.0.1", 3128)); s.listen(50); keep = []
while True: keep.append(s.accept())
P
sleep 1.5
for r in 0 1 2 3; do [ $r = 2 ] && export http_proxy=http://gpu-node-03:3128 || unset http_proxy
RANK=$r LOCAL_RANK=$r on gpu-node-0$((r + 1)) python -u train_asr.py --tracker http://gpu-node-01:8651 > logs/rank$r.log 2>&1 & done
wait $(jobs -p | tail -4)
