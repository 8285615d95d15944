import logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from lookup import lookup
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(message)s")
rank, rows = int(os.environ["RANK"]), int(os.environ["TABLE_ROWS"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))
table = torch.ones(rows, 64, dtype=torch.int8, device=dev); scale = torch.rand(rows, device=dev)
logging.info("table of %d rows, %.2f GB", rows, table.numel() / 1e9)
head = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 1).to(dev)); opt = torch.optim.SGD(head.parameters(), 0.01)
for step in range(200):
    new = min(rows, 8_000_000 + step * 1_000_000)          # ids become known in the order of their first click
    ids = torch.randint(0, new, (2048,), device=dev, dtype=torch.int32)
    loss = head(lookup(table, scale, ids)).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
    if step % 5 == 0: logging.info("step %d: %d ids known, loss %.5f", step, new, loss.item())
    time.sleep(0.1)
dist.destroy_process_group()
