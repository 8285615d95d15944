import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import argparse
import http.server
import json
import logging
import queue
import signal
import threading
import traceback

import torch.multiprocessing as mp

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("gateway")


def worker(rank, n, inbox, outbox):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", rank=rank, world_size=n)
    net = nn.EmbeddingBag(1000, 256).to(device)
    for p in net.parameters():
        dist.broadcast(p.data, 0)
    log.info("worker %d ready on %s", rank, device)
    outbox.put(("ready", rank))
    while (job := inbox.get()) is not None:
        key, ids = job
        try:
            time.sleep(0.004)
            outbox.put((key, net(torch.tensor([ids], device=device))[0, :4].tolist()))
        except Exception as e:
            log.error("worker %d: request %s failed: %s", rank, key, e)
            outbox.put((key, None))
    dist.barrier(device_ids=[device.index])
    dist.destroy_process_group()
    log.info("worker %d stopped", rank)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--workers", type=int)
    p.add_argument("--port", type=int)
    args = p.parse_args()
    ctx = mp.get_context("spawn")
    boxes, outbox, waiting, count = [ctx.Queue(8) for _ in range(args.workers)], ctx.Queue(), {}, iter(range(10**9))
    ready = set()
    signal.signal(signal.SIGTERM, lambda *a: signal.raise_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    procs = [ctx.Process(target=worker, args=(r, args.workers, boxes[r], outbox)) for r in range(args.workers)]
    for q in procs:
        q.start()

    def results():
        while True:
            key, value = outbox.get()
            if key == "ready":
                ready.add(value)
            slot = waiting.pop(key, None)
            if slot:
                slot.put(value)

    threading.Thread(target=results, daemon=True).start()

    class H(http.server.BaseHTTPRequestHandler):
        def reply(self, code, body=b""):
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.reply(200 if len(ready) == args.workers else 503)

        def do_POST(self):
            key = next(count)
            try:
                ids = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["ids"]
            except ValueError:
                log.warning("request %d: not JSON\n%s", key, traceback.format_exc())
                return self.reply(400)
            waiting[key] = queue.Queue()
            slot = waiting[key]
            try:
                boxes[key % args.workers].put_nowait((key, ids))
            except queue.Full:
                log.error("request %d rejected: queue of worker %d is full", key, key % args.workers)
                return self.reply(503)
            self.reply(200, json.dumps(slot.get(timeout=20)).encode())

        def log_message(self, *a):
            pass

    class S(http.server.ThreadingHTTPServer):
        def handle_error(self, request, client_address):
            log.warning("client %s went away: %s", client_address, sys.exc_info()[1])

    server = S(("127.0.0.1", args.port), H)
    log.info("gateway on port %d", args.port)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        log.info("interrupted, draining")
    for b in boxes:
        b.put(None)
    for q in procs:
        q.join()
    log.info("all workers stopped, exit codes %s", [q.exitcode for q in procs])


if __name__ == "__main__":
    main()
