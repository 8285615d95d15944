import argparse, os, signal, subprocess, sys, time
p = argparse.ArgumentParser(); p.add_argument("--workers", type=int); a = p.parse_args()
say = lambda s: print(time.strftime("%Y-%m-%d %H:%M:%S"), s, flush=True)
ps = {}
for r in range(a.workers):
    env = {**os.environ, "RANK": str(r), "WORLD_SIZE": str(a.workers)}
    ps[r] = subprocess.Popen([sys.executable, "-u", "worker.py"], env=env, stdout=open(f"logs/worker-{r}.log", "w"), stderr=subprocess.STDOUT)
    say(f"INFO spawned: 'worker-{r}' with pid {ps[r].pid}")
time.sleep(9)
while all(p.poll() is None for p in ps.values()):
    for r in ps:
        old = time.time() - os.path.getmtime(f"hb_{r}")
        if old > 12:
            say(f"WARN worker-{r}: no heartbeat for {old:.0f} s, asking for its stack")
            ps[r].send_signal(signal.SIGUSR1); time.sleep(1)
            say(f"WARN killing '{r}' ({ps[r].pid}) with SIGKILL"); ps[r].kill(); break
    time.sleep(1)
time.sleep(4)
for r, p in ps.items(): say(f"INFO exited: worker-{r} (exit status {p.poll()}; {'expected' if p.poll() == 0 else 'not expected'})")
for p in ps.values(): p.kill()
