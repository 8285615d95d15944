"""Starts workers, restarts the group when one fails."""
import os, subprocess, sys, time, yaml


def note(msg):
    print(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} supervisor[{os.getpid()}]: {msg}", file=sys.stderr, flush=True)


def launch(spec, gen):
    ps = []
    for r in range(spec["workers"]):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(spec["workers"]), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(spec["port"] + gen), GENERATION=str(gen))
        ps.append(subprocess.Popen([sys.executable, "-u", spec["script"], *spec.get("args", [])], env=env))
        note(f"spawned worker rank={r} pid={ps[-1].pid} generation={gen}")
    return ps


def main():
    spec = yaml.safe_load(open(sys.argv[1]))
    for gen in range(spec["max_restarts"] + 1):
        ps = launch(spec, gen)
        while any(p.poll() is None for p in ps) and not any(p.poll() for p in ps):
            time.sleep(.1)
        bad = [(r, p.returncode) for r, p in enumerate(ps) if p.poll()]
        if not bad:
            note("all workers exited with 0, job complete")
            return 0
        for r, rc in bad:
            note(f"worker rank={r} died with {rc}; stopping the others")
        for p in ps:
            if p.poll() is None:
                p.terminate()
        for p in ps:
            p.wait()
        note(f"generation {gen} failed, restarts left: {spec['max_restarts'] - gen}")
    note("giving up: restart budget exhausted")
    return 1


sys.exit(main())
