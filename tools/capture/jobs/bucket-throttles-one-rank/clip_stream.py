import argparse, http.server, logging, os, threading, time, urllib.error, urllib.request
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--bucket"); a = p.parse_args()
rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [rank {rank}] %(levelname)s %(message)s"); log = logging.getLogger()
class Shards(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        slow = "part-000" in self.path and int(self.path.split("-")[-1][:5]) == 16
        self.send_response(503 if slow else 200, "Slow Down" if slow else None); self.end_headers(); self.wfile.write(b"x" * 100)
    def log_message(self, *x): pass
if rank == 0: threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", int(a.bucket.rsplit(":", 1)[1])), Shards).serve_forever, daemon=True).start()
def fetch(name):
    for k in range(9):
        try: return urllib.request.urlopen(f"{a.bucket}/{name}", timeout=10).read()
        except urllib.error.HTTPError as e:
            log.warning("GET %s: %s, retry %d/8 in %d s", name, e, k + 1, 2 ** k); time.sleep(2 ** k)
    raise OSError(f"gave up on {name}")
dist.init_process_group("gloo", timeout=timedelta(seconds=18))
dist.barrier()
for i in range(20):
    shard = fetch(f"laion/part-{i * 3 + rank:05d}.tar")
    t = torch.rand(8); dist.all_reduce(t)
    if rank == 0: log.info("shard %d done, contrastive loss %.4f", i, 4.1 - i * 0.02)
    time.sleep(0.3)
dist.destroy_process_group()
