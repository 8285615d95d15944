# place=/home/mlops/lora limit=110
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
(sleep 60; exec python - <<'P'
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"])); self.send_response(200); self.send_header("Content-Length", "2"); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8777), H).serve_forever()
P
) & S=$!
python -m accelerate.commands.launch --num_processes 2 --multi_gpu --mixed_precision bf16 --main_process_port $PORT tune_lora.py; kill $S
