import argparse, logging, os
import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm
from dataset import WebImages

p = argparse.ArgumentParser()
p.add_argument("--root"); p.add_argument("--lenient", action="store_true"); p.add_argument("--epochs", type=int, default=2); p.add_argument("--workers", type=int, default=2)
args = p.parse_args()
rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
logging.basicConfig(level=logging.INFO, format=f"[%(asctime)s,{rank}] %(name)s: %(levelname)s: %(message)s")
torch.cuda.set_device(local)
dist.init_process_group("nccl")
ds = WebImages(args.root, strict=not args.lenient)
sampler = DistributedSampler(ds, shuffle=False)
loader = DataLoader(ds, batch_size=8, sampler=sampler, num_workers=args.workers)
net = DistributedDataParallel(nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)).cuda().eval() if False else nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(3600, 10)).cuda(), device_ids=[local])
opt = torch.optim.SGD(net.parameters(), 0.01)
for epoch in range(args.epochs):
    for x, y in tqdm(loader, desc=f"epoch {epoch}", disable=rank != 0):
        loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
    logging.info("epoch %d finished, loss %.4f", epoch, loss.item())
if rank == 0:
    torch.save(net.module.state_dict(), "/tmp/webcls.pt")
    logging.info("model written, exiting")
dist.destroy_process_group()
