import http.server, threading, urllib.request, os, signal, time
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path=="/bad": raise ValueError("bad request body: expected 'prompt'")
        self.send_response(200); self.end_headers(); self.wfile.write(b"ok")
s=http.server.ThreadingHTTPServer(("127.0.0.1",0),H); port=s.server_address[1]; print("Serving model demo-7b on port",port,flush=True)
def cl():
    for p in ("/v1/models","/generate","/bad","/generate","/generate"):
        try: urllib.request.urlopen(f"http://127.0.0.1:{port}{p}")
        except Exception: pass
    time.sleep(0.3); os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=cl,daemon=True).start()
s.serve_forever()
