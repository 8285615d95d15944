"""Starts one worker per rank, keeps an eye on their memory, writes a receipt."""
import argparse
import json
import os
import signal
import subprocess
import sys
import time


def rss_gb(pid):
    try:
        return int(open(f"/proc/{pid}/statm").read().split()[1]) * 4096 / 1e9
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0.0


def say(*words):
    print(time.strftime("%H:%M:%S"), "launcher:", *words, flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--workers", type=int)
    p.add_argument("--guard-gb", type=float)
    args = p.parse_args()
    procs, peak = [], [0.0] * args.workers
    for r in range(args.workers):
        env = {**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(args.workers)}
        procs.append(subprocess.Popen([sys.executable, "-u", "hard_negatives.py"], env=env, stdout=open(f"logs/worker_{r}.log", "w"), stderr=subprocess.STDOUT))
        say(f"worker {r} started, pid {procs[-1].pid}")
    reported = set()
    end = None
    while any(q.poll() is None for q in procs):
        for r, q in enumerate(procs):
            if q.poll() is not None:
                if r not in reported:
                    reported.add(r)
                    say(f"worker {r} ended, returncode {q.returncode}")
                    end = end or time.time() + 20
                continue
            g = rss_gb(q.pid)
            peak[r] = max(peak[r], g)
            if g > args.guard_gb:
                say(f"guard: worker {r} (pid {q.pid}) resident {g:.1f} GB > {args.guard_gb:.1f} GB, sending SIGKILL")
                q.send_signal(signal.SIGKILL)
        if end and time.time() > end:
            for r, q in enumerate(procs):
                if q.poll() is None:
                    say(f"worker {r} still there after 20 s, terminating it")
                    q.terminate()
            end = time.time() + 10
        time.sleep(0.2)
    for r, q in enumerate(procs):
        if r not in reported:
            say(f"worker {r} ended, returncode {q.returncode}")
    json.dump({"run_id": "emb-0612", "launch": {"world_size": args.workers}, "peak_rss_gb": [round(x, 2) for x in peak], "returncodes": [q.returncode for q in procs]}, open("logs/receipt.json", "w"), indent=1)
    say("receipt written to receipt.json")


main()
