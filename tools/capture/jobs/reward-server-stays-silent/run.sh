# place=/data/rlhf-7b limit=75 
export OMP_NUM_THREADS=1 TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=3000
export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
export WORLD_SIZE=4
python - $((PORT + 3)) <<'P' &
import http.server, sys, time, json
n = {}
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        d = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        n[d["rank"]] = n.get(d["rank"], 0) + 1
        if d["rank"] == 1 and n[1] > 14: time.sleep(600)
        b = json.dumps([0.5] * d["n"]).encode(); self.send_response(200); self.send_header("Content-Length", str(len(b))); self.end_headers(); self.wfile.write(b)
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
P
s=$!; sleep 1.5
for r in 0 1 2 3; do REWARD_URL=http://127.0.0.1:$((PORT + 3))/score RANK=$r LOCAL_RANK=$r python -u ppo_rm.py > logs/ppo_rank$r.log 2>&1 & done; wait $(jobs -p | tail -4); kill $s
