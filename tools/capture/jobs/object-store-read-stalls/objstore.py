import os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def do_GET(self):
        n = 65536
        self.send_response(200); self.send_header("Content-Length", str(n)); self.end_headers()
        if self.path.endswith("part-00013"):
            self.wfile.write(b"x" * 20000); self.wfile.flush(); time.sleep(300)
        self.wfile.write(os.urandom(n))
ThreadingHTTPServer(("127.0.0.1", int(os.environ["OBJ"].split(":")[1])), H).serve_forever()
