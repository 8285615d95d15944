import logging, os, time
from datetime import timedelta
import numpy as np
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.basicConfig(filename=None, level=logging.INFO, format=f"%(levelname).1s %(asctime)s ranker[{rank}] %(message)s")
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=15))
ROWS, DIM = 400_000, 64
path = f"items/part-{rank}.f32"
os.makedirs("items", exist_ok=True)
np.random.default_rng(rank).standard_normal((ROWS, DIM), dtype=np.float32).tofile(path)
table = np.memmap(path, dtype=np.float32, mode="r", shape=(ROWS, DIM))
logging.info("mapped %s, %d items", path, ROWS)
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(DIM, 512), nn.ReLU(), nn.Linear(512, 1)).to(dev))
opt = torch.optim.Adagrad(net.parameters(), 0.01)
rng = np.random.default_rng(17)
for step in range(500):
    rows = rng.integers(0, ROWS, 2048)
    x = torch.from_numpy(np.ascontiguousarray(table[rows])).to(dev)
    loss = nn.functional.softplus(-net(x)).mean(); opt.zero_grad(); loss.backward(); opt.step()
    if step % 25 == 0: logging.info("step %d logloss %.5f", step, loss.item())
    if step == 100: open(f"items/part-{rank}.seen", "w").write("100\n")
    time.sleep(0.03)
logging.info("done")
dist.destroy_process_group()
