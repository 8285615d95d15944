import os, subprocess, sys, time
n = 4
procs = []
for r in range(n):
    env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["PORT"])
    procs.append(subprocess.Popen([sys.executable, "-u", "work.py"], env=env))
    print(f"[launch] rank {r} started as pid {procs[-1].pid}", flush=True)
left = set(range(n))
while left:
    for r in sorted(left):
        rc = procs[r].poll()
        if rc is not None:
            left.discard(r)
            print(f"[launch] rank {r} finished with return code {rc}", flush=True)
    time.sleep(0.2)
