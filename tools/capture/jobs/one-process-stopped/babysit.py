import os
import signal
import subprocess
import sys
import time

import shutil

N = 4
os.makedirs("pids", exist_ok=True)


def log(*a):
    with open("logs/babysit.log", "a") as f:
        print(time.strftime("%b %d %H:%M:%S"), "babysit:", *a, file=f)


def table(procs):
    for r, p in enumerate(procs):
        try:
            s = dict(l.split(":\t", 1) for l in open(f"/proc/{p.pid}/status").read().splitlines() if ":\t" in l)
            log(f"  rank={r} pid={p.pid} state={s['State']} threads={s['Threads']} rss={s.get('VmRSS', '-').strip()}")
        except OSError:
            log(f"  rank={r} pid={p.pid} gone")


procs = []
for r in range(N):
    env = {**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(N)}
    procs.append(subprocess.Popen([sys.executable, "-u", "gan.py"], env=env, stdout=open(f"logs/gan.{r}.log", "w"), stderr=subprocess.STDOUT))
    open(f"pids/{r}", "w").write(str(procs[-1].pid))
log("started", [p.pid for p in procs])
size, since, shown = -1, time.time(), 0
while all(p.poll() is None for p in procs):
    time.sleep(0.5)
    now = sum(os.path.getsize(f"logs/gan.{r}.log") for r in range(N))
    if now != size:
        size, since = now, time.time()
    elif size > 300 and time.time() - since > 6 and shown < 2 and time.time() - since > 6 * (shown + 1):
        shown += 1
        log(f"no output of any rank for {time.time() - since:.0f} s")
        table(procs)
time.sleep(4)
for r, p in enumerate(procs):
    log(f"rank {r}: {'running' if p.poll() is None else p.returncode}")
    if p.poll() is None:
        p.kill()
log("stopped")
