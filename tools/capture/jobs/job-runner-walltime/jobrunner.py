import argparse, datetime, subprocess, sys, time, signal
p = argparse.ArgumentParser(); p.add_argument("--walltime", type=float); p.add_argument("cmd", nargs=argparse.REMAINDER); a = p.parse_args()
say = lambda s: print(f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S} jobrunner[1]: {s}", flush=True)
say(f"job 77120 starts on gpu-node-01, 2 GPUs, walltime {a.walltime:.0f} s")
j = subprocess.Popen(a.cmd[1:]); t = time.time()
try: rc = j.wait(a.walltime)
except subprocess.TimeoutExpired:
    say(f"job 77120 exceeded its walltime ({time.time() - t:.0f} s > {a.walltime:.0f} s), sending SIGTERM")
    j.terminate(); rc = j.wait()
say(f"job 77120 ended with status {rc}")
sys.exit(rc != 0)
