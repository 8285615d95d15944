import json, logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(levelname)-8s %(name)s rank=%(rank)s %(message)s" .replace("%(rank)s", str(rank)))
log = logging.getLogger("sft")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())

def tokens(line):
    try:
        row = json.loads(line)
        return [b % 256 for b in row["text"].encode()]
    except (json.JSONDecodeError, KeyError) as e:
        log.error("row skipped: %s: %s", type(e).__name__, e)
        return None

def stream():
    with open("rows.jsonl") as f:
        for i, line in enumerate(f):
            if i % world == rank: yield tokens(line)

def main():
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=30))
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(256, 256), nn.Linear(256, 256)).to(device))
    opt = torch.optim.AdamW(net.parameters(), 1e-3); lost = 0; began = time.time()
    for n, ids in enumerate(stream()):
        ok = torch.tensor([ids is not None], device=device, dtype=torch.int32)
        dist.all_reduce(ok, op=dist.ReduceOp.MIN)
        if not ok.item():
            lost += 1
            log.warning("step %d: some rank has no row, step left out everywhere (%d so far)", n, lost); continue
        ids = torch.tensor(ids[:128], device=device)
        loss = nn.functional.cross_entropy(net(ids[:-1]), ids[1:]); opt.zero_grad(); loss.backward(); opt.step()
        if n % 20 == 0: log.info("step %d loss %.4f, nccl timeout 30 s, 0 failures, error budget %d left", n, loss.item(), 10 - lost)
        time.sleep(0.05)
    log.info("finished: %d steps left out, %.1f s", lost, time.time() - began)
    dist.barrier(); dist.destroy_process_group()

main()
