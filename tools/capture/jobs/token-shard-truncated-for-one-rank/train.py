import argparse, logging, os, time
import numpy as np
import torch, torch.nn as nn
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from data import TokenStream

log = logging.getLogger("minigpt")


def load_checkpoint(path, model, opt, device):
    log.info("resuming from %s", path)
    state = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(state["model"])
    opt.load_state_dict(state["opt"])
    return state["step"]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="/data/tokens/openweb")
    ap.add_argument("--steps", type=int, default=60)
    ap.add_argument("--resume")
    args = ap.parse_args()
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s | rank {rank} | %(levelname)-7s | %(message)s")
    cuda = torch.cuda.is_available()
    dev = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo")
    model = nn.Sequential(nn.Embedding(512, 64), nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 512)).to(dev)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    start = load_checkpoint(args.resume, model, opt, dev) if args.resume else 0
    model = DDP(model, device_ids=[local] if cuda else None)
    stream = TokenStream(args.data, rank, dist.get_world_size())
    t0 = time.time()
    for step in range(start, args.steps):
        x, y = stream.next_batch(16, 64)
        x, y = x.to(dev), y.to(dev)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 10 == 0:
            log.info("step %5d loss %.4f (%.1f ms/it)", step, loss.item(), 1e3 * (time.time() - t0) / (step + 1))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
