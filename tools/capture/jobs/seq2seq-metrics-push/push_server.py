import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Push(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"])); self.send_response(200); self.end_headers()
    def log_message(self, *a): pass
s = HTTPServer(("127.0.0.1", int(sys.argv[1])), Push)
for _ in range(4): s.handle_request()
