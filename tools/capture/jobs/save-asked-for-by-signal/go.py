import os
import signal
import subprocess
import sys
import time

import threading

n = int(sys.argv[1])


def copy(r, pipe):
    for line in pipe:
        sys.stdout.write(f"[{r}] {line}")
        sys.stdout.flush()


procs = []
for r in range(n):
    env = {**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(n)}
    procs.append(subprocess.Popen([sys.executable, "-u", "codec_train.py"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    threading.Thread(target=copy, args=(r, procs[-1].stdout)).start()
while not os.path.exists('codec.lock'):
    time.sleep(0.5)
time.sleep(5)
print(f"go: save requested by the operator, sending SIGUSR1 to rank 0 (pid {procs[0].pid})", flush=True)
procs[0].send_signal(signal.SIGUSR1)
for r, p in enumerate(procs[1:], 1):
    print(f"go: rank {r} ended with {p.wait()}", flush=True)
try:
    print(f"go: rank 0 ended with {procs[0].wait(8)}", flush=True)
except subprocess.TimeoutExpired:
    print("go: rank 0 still running, killing it", flush=True)
    procs[0].kill()
