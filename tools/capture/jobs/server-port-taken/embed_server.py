import json, logging, os, sys, threading, time
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import torch, torch.distributed as dist
logging.basicConfig(level=logging.INFO, format="%(levelname)s:     %(message)s", stream=sys.stderr)
log = logging.getLogger("embed")
rank = int(os.environ["RANK"])
cuda = torch.cuda.is_available()
dev = torch.device(f"cuda:{rank}" if cuda else "cpu")

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        n = int(self.headers["Content-Length"]); texts = json.loads(self.rfile.read(n))["texts"]
        out = self.server.model(torch.randn(len(texts), 384, device=dev)).tolist()
        self.send_response(200); self.end_headers(); self.wfile.write(json.dumps(out).encode())

def main():
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=25))
    model = torch.nn.Linear(384, 384).to(dev)
    for p in model.parameters(): dist.broadcast(p.data, 0)
    log.info("rank %d: model on %s", rank, dev)
    if rank == 0:
        log.info("Application startup complete.")
        port = int(os.environ.get("EMBED_PORT", "8000"))
        server = ThreadingHTTPServer(("0.0.0.0", port), Handler)
        server.model = model
        log.info("listening on http://0.0.0.0:%d", port)
        server.serve_forever()
    cmd = torch.zeros(2, dtype=torch.long, device=dev)
    while True:
        dist.broadcast(cmd, 0)
        if cmd[0] == 0: break

main()
