import os,signal,sys,time
ck="/scratch/p.pt"; s=int(open(ck).read()) if os.path.exists(ck) else 0
first=s==0
def h(n,f): print(f"caught signal {n}: writing checkpoint at iteration {i} and leaving", flush=True); open(ck,"w").write(str(i)); sys.exit(0)
signal.signal(signal.SIGTERM,h)
print(f"> resuming at iteration {s}" if s else "> starting from scratch", flush=True)
for i in range(s,40):
    print(f" iteration {i:8d}/      40 | consumed samples: {i*256:12d} | elapsed time per iteration (ms): 31.2 | lm loss: {4-i*0.05:.6E} | grad norm: 0.812 |", flush=True)
    if first and i==17: os.kill(os.getpid(),signal.SIGTERM); time.sleep(1)
print("[after training is done] datetime: 2026-03-04 19:01:12")
