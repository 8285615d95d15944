import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        m = b"Access to model meta-llama/Llama-3.1-8B is restricted. You must have access to it and be authenticated to access it. Please log in."
        self.send_response(401); self.send_header("X-Error-Code", "GatedRepo"); self.send_header("X-Error-Message", m.decode()); self.send_header("Content-Length", str(len(m))); self.end_headers()
        if self.command != "HEAD": self.wfile.write(m)
    do_HEAD = do_GET
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
