import random, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
rnd = random.Random(2)
class Tile(BaseHTTPRequestHandler):
    def do_GET(self):
        x = rnd.random(); body = b"\1" * 4096
        if x < 0.12: self.send_error(503, "Slow Down"); return
        self.send_response(200); self.send_header("Content-Length", "4096"); self.end_headers()
        self.wfile.write(body[:1000] if x < 0.2 else body)
    def log_message(self, *a): pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Tile).serve_forever()
