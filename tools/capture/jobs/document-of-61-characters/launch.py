import os
import signal
import subprocess
import sys
import time

n = int(sys.argv[1])
procs = []
for r in range(n):
    env = {**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(n)}
    procs.append(subprocess.Popen([sys.executable, "-u", "clean_lm.py"], env=env, stdout=open(f"logs/rank{r}.log", "w"), stderr=subprocess.STDOUT))
left = dict(enumerate(procs))
first = None
while left:
    time.sleep(0.5)
    for r, p in list(left.items()):
        if p.poll() is not None:
            print(f"{time.strftime('%H:%M:%S')} launch: rank {r} (pid {p.pid}) exit {p.returncode}", flush=True)
            del left[r]
            first = first or time.time()
    if first and time.time() - first > 15 and left:
        print(f"{time.strftime('%H:%M:%S')} launch: killing {sorted(left)}", flush=True)
        for p in left.values():
            p.kill()
