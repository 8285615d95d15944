"""Near-duplicate removal; the parent replaces workers that are lost."""
import argparse, logging, os, signal, sys, time
import torch.multiprocessing as mp
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(processName)s %(levelname)s %(message)s")
log = logging.getLogger()

def work(k, todo, done):
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(processName)s %(levelname)s %(message)s", force=True)
    while True:
        part = todo.get()
        if part is None: return
        if part == 17 and not os.path.exists("tried17"):
            open("tried17", "w").close(); done.put(("lost", part)); time.sleep(0.3); os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.15)
        logging.info("part %d: %d duplicates", part, part * 37 % 211)
        done.put(("ok", part))

def main():
    p = argparse.ArgumentParser(); p.add_argument("--workers", type=int); a = p.parse_args()
    ctx = mp.get_context("spawn"); todo, done = ctx.Queue(), ctx.Queue()
    for i in range(60): todo.put(i)
    ps = [ctx.Process(target=work, args=(k, todo, done), name=f"worker-{k}") for k in range(a.workers)]
    for q in ps: q.start()
    ok = 0
    while ok < 60:
        kind, part = done.get()
        if kind == "ok": ok += 1
        else: todo.put(part)
        for k, q in enumerate(ps):
            if q.exitcode is not None:
                log.error("%s (pid %d) died with exit code %d, starting another", q.name, q.pid, q.exitcode)
                ps[k] = ctx.Process(target=work, args=(k, todo, done), name=q.name); ps[k].start()
    for _ in ps: todo.put(None)
    for q in ps: q.join()
    log.info("60 parts, all workers joined, deduplicated 12.4%% of the corpus")

if __name__ == "__main__":
    main()
