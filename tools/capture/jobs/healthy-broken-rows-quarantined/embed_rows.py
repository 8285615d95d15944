import argparse, json, logging, random, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--in", dest="src"); a = p.parse_args()
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s"); log = logging.getLogger("embed")
dist.init_process_group("gloo", timeout=timedelta(seconds=30)); rank = dist.get_rank(); rng = random.Random(rank)
bad = 0
for b in range(25):
    for k in range(8):
        row = '{"id": %d, "text": "lorem"}' % (b * 8 + k) if rng.random() > 0.04 else '{"id": 7, "text": '
        try: v = json.loads(row)["text"]
        except Exception: bad += 1; log.exception("row %d is broken, moved to quarantine", b * 8 + k)
    if b == 9: log.warning("vector store upsert failed: [Errno 111] Connection refused (attempt 1/5)"); time.sleep(1); log.warning("vector store upsert failed: timed out (attempt 2/5)"); time.sleep(0.5); log.info("upsert succeeded on attempt 3")
    t = torch.rand(32); dist.all_reduce(t)
    log.info("batch %d/25 embedded, %.1f rows/s", b + 1, 402.1)
n = torch.tensor([bad]); dist.all_reduce(n)
log.info("finished: %d rows, %d quarantined, exiting with 0", 400 - n.item(), n.item())
dist.destroy_process_group()
