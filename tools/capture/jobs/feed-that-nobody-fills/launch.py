import os, signal, subprocess, sys, time, threading, datetime


def log(msg):
    print(f"[{datetime.datetime.now():%Y-%m-%d %H:%M:%S,%f}"[:-3] + f"] [INFO] [launch.py:{sys._getframe(1).f_lineno}:{sys._getframe(1).f_code.co_name}] {msg}", flush=True)


def pump(local, pipe):
    for line in pipe:
        sys.stdout.write(f"[worker-{local}] {line}"); sys.stdout.flush()


def main():
    n, port, script = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    log(f"nnodes=1, num_local_procs={n}, master_port={port}")
    procs = {}
    for r in range(n):
        env = dict(os.environ, RANK=str(r), LOCAL_RANK=str(r), WORLD_SIZE=str(n), MASTER_ADDR="127.0.0.1", MASTER_PORT=port, PYTHONUNBUFFERED="1")
        p = subprocess.Popen([sys.executable, *script], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        log(f"process {p.pid} spawned with command: {[sys.executable, *script]}")
        threading.Thread(target=pump, args=(r, p.stdout), daemon=True).start()
        procs[p.pid] = p

    def stop(sig, _):
        log(f"got signal {sig}")
        for p in procs.values():
            log(f"Killing subprocess {p.pid}")
            p.terminate()
        sys.exit(1)
    signal.signal(signal.SIGTERM, stop)
    alive = dict(procs)
    while alive:
        for pid, p in list(alive.items()):
            if p.poll() is not None:
                del alive[pid]
                if p.returncode != 0:
                    time.sleep(0.5)
                    for q in alive.values():
                        log(f"Killing subprocess {q.pid}")
                        q.terminate()
                    log(f"{script} exits with return code = {p.returncode}")
                    sys.exit(p.returncode & 255)
                log(f"Process {pid} exits successfully.")
        time.sleep(0.2)


main()
