import http.server, json, sys
BODY = json.dumps({"vocab_size": 2048, "hidden_size": 256, "layers": 3}).encode()
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do(self, body):
        if "rank/3" in self.headers.get("User-Agent", ""):
            self.send_response(429); self.send_header("Content-Length", "0"); self.send_header("X-Error-Message", "We had to rate limit your IP (10.20.0.14). To continue using our service, create a HF account or login to your existing account, and make sure you pass a HF_TOKEN if you're using the API."); self.end_headers(); return
        self.send_response(200); self.send_header("Content-Length", str(len(BODY))); self.send_header("ETag", '"5f1c"'); self.send_header("X-Repo-Commit", "a" * 40); self.end_headers()
        if body: self.wfile.write(BODY)
    def do_GET(self): self.do(True)
    def do_HEAD(self): self.do(False)
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
