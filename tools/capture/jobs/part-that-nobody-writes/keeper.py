import os
import signal
import subprocess
import sys
import time

n = int(sys.argv[1])


def say(text):
    print(time.strftime("%Y-%m-%d %H:%M:%S"), "keeper", text, flush=True)


procs, beats = [], {}
for r in range(n):
    env = {**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(n), "BEAT": f"beat.{r}"}
    procs.append(subprocess.Popen([sys.executable, "-u", "stream_train.py"], env=env, stdout=open(f"logs/worker-{r}.log", "w"), stderr=subprocess.STDOUT))
    say(f"worker {r} started, pid {procs[-1].pid}")
started, asked = time.time(), False
while any(p.poll() is None for p in procs):
    time.sleep(1)
    ages = [time.time() - os.path.getmtime(f"beat.{r}") if os.path.exists(f"beat.{r}") else 0 for r in range(n)]
    if min(ages) > 8 and not asked:
        asked = True
        say(f"no heartbeat for {[round(a, 1) for a in ages]} s, asking all workers for their stacks")
        for p in procs:
            p.send_signal(signal.SIGUSR2)
    if min(ages) > 22:
        say("giving up, killing all workers")
        for p in procs:
            p.kill()
say(f"return codes {[p.wait() for p in procs]}")
