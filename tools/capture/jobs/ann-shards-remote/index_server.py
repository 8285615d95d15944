import sys, json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
seen = {}
class H(BaseHTTPRequestHandler):
    def do_GET(self):
        client = self.headers.get("X-Client", "?")
        seen[client] = seen.get(client, 0) + 1
        limit = {"trainer-1": 120}.get(client, 10**6)
        if seen[client] > limit:
            self.send_response(429); self.send_header("Retry-After", "900"); self.end_headers(); return
        body = json.dumps({"ids": [(seen[client] * 31 + i) % 5000 for i in range(16)]}).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body)
    def log_message(self, *a): pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
