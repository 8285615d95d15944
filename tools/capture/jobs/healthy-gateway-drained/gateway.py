import http.server, json, logging, os, signal, sys, threading, time
import torch, torch.distributed as dist, torch.multiprocessing as mp
def worker(rank, q, r):
    dist.init_process_group("gloo", rank=rank, world_size=2)
    while True:
        n = q.get()
        if n is None: break
        t = torch.rand(int(n)); dist.all_reduce(t)
        if rank == 0: r.put(t.tolist())
    dist.destroy_process_group(); print(f"worker {rank} drained", flush=True)
if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s gateway %(levelname)s %(message)s"); log = logging.getLogger()
    c = mp.get_context("spawn"); qs, r = [c.Queue(), c.Queue()], c.Queue()
    ps = [c.Process(target=worker, args=(i, qs[i], r)) for i in range(2)]
    for p in ps: p.start()
    class H(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                n = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["n"]
                for q in qs: q.put(n)
                b = json.dumps(r.get(timeout=20)).encode(); self.send_response(200); self.end_headers(); self.wfile.write(b)
            except Exception: log.exception("request failed"); self.send_response(500); self.end_headers()
        def log_message(self, f, *a): log.info("%s %s", self.client_address[0], f % a)
    s = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["P"])), H)
    def stop(*_):
        log.warning("received SIGTERM, draining"); threading.Thread(target=s.shutdown).start()
    signal.signal(signal.SIGTERM, stop); log.info("serving"); s.serve_forever()
    for q in qs: q.put(None)
    for p in ps: p.join()
    log.info("shutdown complete, worker exit codes %s", [p.exitcode for p in ps]); sys.exit(0)
