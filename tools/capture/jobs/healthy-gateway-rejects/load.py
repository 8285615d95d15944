import json, sys, time, urllib.request, urllib.error
from concurrent.futures import ThreadPoolExecutor
url = f"http://127.0.0.1:{sys.argv[1]}/embed"
for _ in range(90):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/health", timeout=1); break
    except Exception: time.sleep(1)
def one(i):
    body = json.dumps({"ids": list(range(i % 50 + 1))}).encode() if i % 37 else b"{broken"
    try:
        return urllib.request.urlopen(urllib.request.Request(url, body), timeout=0.05 if i % 53 == 0 else 8).status
    except urllib.error.HTTPError as e: return e.code
    except Exception as e: return type(e).__name__
with ThreadPoolExecutor(24) as p: r = list(p.map(one, range(900)))
from collections import Counter
print(Counter(r))
