import json, logging, os, sys, threading, time, traceback
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); cuda = torch.cuda.is_available()
dev = torch.device(f"cuda:{rank}" if cuda else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-7s [%(threadName)s] %(message)s")
log = logging.getLogger("chat")
W = None

def forward(n):
    cmd = torch.tensor([n], device=dev); dist.broadcast(cmd, 0)
    if n < 0: return None
    try:
        x = torch.ones(n, 4096, device=dev) @ W
        ok = torch.ones(1, device=dev)
    except (torch.OutOfMemoryError, RuntimeError) as e:
        log.error("request of %d tokens does not fit: %s", n, str(e).splitlines()[0]); x, ok = None, torch.zeros(1, device=dev)
    dist.all_reduce(ok, op=dist.ReduceOp.MIN)
    if ok.item() == 0: raise MemoryError("prompt too long for this deployment")
    s = x.sum() if n else torch.zeros((), device=dev); dist.all_reduce(s)
    return s.item()

class H(BaseHTTPRequestHandler):
    def log_message(self, f, *a): log.info("%s - %s", self.client_address[0], f % a)
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/shutdown":
            self.send_response(200); self.end_headers(); self.server.stop = True; return
        try:
            if body["n"] == 0: raise ValueError("empty prompt")
            out = forward(body["n"])
            if body["n"] > 1000: time.sleep(1)
            self.send_response(200); self.end_headers()
            for _ in range(300): self.wfile.write(json.dumps({"score": out}).encode() * 200)
        except (ValueError, MemoryError) as e:
            log.error("request failed\n%s", traceback.format_exc()); self.send_response(400); self.end_headers()

def main():
    global W
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=60))
    W = torch.randn(4096, 64, device=dev)
    dist.barrier()
    if rank == 0:
        server = HTTPServer(("127.0.0.1", int(os.environ["HTTP_PORT"])), H); server.stop = False; server.timeout = 1
        log.info("ready")
        while not server.stop: server.handle_request()
        forward(-1); log.info("shutdown requested")
    else:
        cmd = torch.zeros(1, dtype=torch.long, device=dev)
        while True:
            dist.broadcast(cmd, 0); n = int(cmd.item())
            if n < 0: break
            try:
                x = torch.ones(n, 4096, device=dev) @ W; ok = torch.ones(1, device=dev)
            except (torch.OutOfMemoryError, RuntimeError) as e:
                log.error("request of %d tokens does not fit: %s", n, str(e).splitlines()[0]); ok = torch.zeros(1, device=dev)
            dist.all_reduce(ok, op=dist.ReduceOp.MIN)
            if ok.item() == 0: continue
            s = x.sum(); dist.all_reduce(s)
    log.info("rank %d: all requests drained, exiting", rank)
    dist.destroy_process_group()

main()
