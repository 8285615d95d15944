import sys, urllib.request
for i in range(14):
    try: urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/generate", data=b"{bad" if i % 5 == 3 else b'{"n": 5}', timeout=30).read()
    except Exception: pass
