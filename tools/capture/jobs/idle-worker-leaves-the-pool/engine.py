import argparse, datetime, multiprocessing as mp, os, sys, time, traceback


def out(level, comp, msg):
    print(f"{level} {datetime.datetime.now():%m-%d %H:%M:%S} [{comp}] {msg}", flush=True)


class Worker:
    def __init__(self, rank, util, max_idle):
        import torch
        self.torch, self.rank, self.max_idle = torch, rank, max_idle
        self.comp = f"worker.py:{rank}"
        torch.cuda.set_device(rank)
        self.w = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
        free, total = torch.cuda.mem_get_info()
        out("INFO", self.comp, f"model weights take 1.00GiB, device memory {free / 2**30:.2f}GiB free of {total / 2**30:.2f}GiB")
        budget = util * total - (total - free)
        self.blocks = int(budget // (64 << 20))
        if self.blocks <= 0:
            raise ValueError(f"No available memory for the cache blocks: budget {budget / 2**30:.2f}GiB at gpu_memory_utilization={util}, other processes hold {(total - free) / 2**30 - 1:.2f}GiB on this device")
        out("INFO", self.comp, f"# GPU blocks: {self.blocks}")

    def loop(self, conn):
        conn.send(("ready", self.rank))
        while True:
            if not conn.poll(self.max_idle[self.rank]):
                out("INFO", self.comp, f"nothing to do for {self.max_idle[self.rank]:.0f}s, leaving the pool")
                return
            req = conn.recv()
            if req is None:
                out("INFO", self.comp, "shutdown")
                return
            x = self.torch.randn(512, 512, device="cuda")
            conn.send(("ok", req, float((x @ x).sum())))


def worker_main(rank, conn, util, max_idle):
    try:
        Worker(rank, util, max_idle).loop(conn)
    except Exception:
        out("ERROR", f"worker.py:{rank}", "worker failed\n" + traceback.format_exc())
        sys.exit(1)


class WorkerPool:
    def __init__(self, n, util, max_idle):
        ctx = mp.get_context("spawn")
        self.conns, self.procs = [], []
        for r in range(n):
            a, b = ctx.Pipe()
            p = ctx.Process(target=worker_main, args=(r, b, util, max_idle), name=f"Worker_TP{r}")
            p.start(); b.close()
            self.conns.append(a); self.procs.append(p)
        for c in self.conns:
            c.recv()
        out("INFO", "engine.py:88", f"{n} workers ready")

    def step(self, i):
        for c in self.conns:
            c.send(i)
        return [c.recv() for c in self.conns]


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--tp", type=int, default=2); ap.add_argument("--util", type=float, default=0.3); ap.add_argument("--max-idle", type=float, nargs=2, default=[600, 600]); ap.add_argument("--think", type=float, default=0.2)
    a = ap.parse_args()
    out("INFO", "engine.py:101", f"starting tinyserve 0.3.1 {vars(a)}")
    try:
        pool = WorkerPool(a.tp, a.util, a.max_idle)
        for i in range(40):
            pool.step(i)
            if i % 5 == 0:
                out("INFO", "engine.py:107", f"served {i + 1} requests")
            time.sleep(a.think * (1 if i < 22 else 60))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        out("ERROR", "engine.py:110", "lost connection to worker pool\n" + traceback.format_exc())
        out("CRITICAL", "engine.py:112", "EngineDead: " + ", ".join(f"{p.name}={p.exitcode if not p.is_alive() else 'alive'}" for p in pool.procs) if "pool" in globals() else "EngineDead: engine core initialization failed. See root cause above.")
        for p in mp.active_children():
            p.terminate()
        sys.exit(1)
