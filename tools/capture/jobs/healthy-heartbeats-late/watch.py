import glob
import os
import time

seen = set()
while not os.path.exists("over"):
    time.sleep(1)
    for f in sorted(glob.glob("beat.*")):
        try:
            age = time.time() - os.path.getmtime(f)
        except OSError:
            continue
        if age > 3:
            seen.add(f)
            print(time.strftime("%H:%M:%S"), f"WARNING no heartbeat of rank {f[5:]} for {age:.0f} s, it may hang", flush=True)
        elif f in seen:
            seen.discard(f)
            print(time.strftime("%H:%M:%S"), f"INFO rank {f[5:]} is back", flush=True)
print(time.strftime("%H:%M:%S"), "INFO all nodes finished, watch ends", flush=True)
