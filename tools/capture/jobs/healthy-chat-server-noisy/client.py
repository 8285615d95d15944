import json, os, socket, time, urllib.request
port = int(os.environ["HTTP_PORT"])
def post(path, body, timeout=10):
    req = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    try: return urllib.request.urlopen(req, timeout=timeout).read()
    except Exception as e: print(e)
for _ in range(40):
    if post("/generate", {"n": 8}) is not None: break
    time.sleep(0.5)
for n in (4, 16, 0, 7, 9):
    post("/generate", {"n": n})
for _ in range(3):
    s = socket.create_connection(("127.0.0.1", port)); b = json.dumps({"n": 5000}).encode()
    s.sendall(b"POST /generate HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(b) + b)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0"); time.sleep(0.3); s.close()
post("/generate", {"n": 100000000})
post("/generate", {"n": 32})
post("/shutdown", {})
