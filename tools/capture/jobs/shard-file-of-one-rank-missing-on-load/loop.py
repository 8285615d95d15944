import os, sys, time, logging
import torch, torch.nn as nn, torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.fsdp import fully_shard
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [r{rank}] %(levelname)s %(message)s")
log = logging.getLogger()


def save(path, model, opt):
    msd, osd = get_state_dict(model, opt)
    t = time.time()
    dcp.save({"model": msd, "optim": osd}, checkpoint_id=path)
    log.info("saved %s in %.2fs", path, time.time() - t)


def restore(path, model, opt):
    msd, osd = get_state_dict(model, opt)
    log.info("restoring %s", path)
    dcp.load({"model": msd, "optim": osd}, checkpoint_id=path)
    set_state_dict(model, opt, model_state_dict=msd, optim_state_dict=osd)


def main(outdir, steps, resume=None):
    cuda = torch.cuda.is_available()
    dev = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo")
    model = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 512)).to(dev)
    fully_shard(model, mesh=init_device_mesh(dev.type, (dist.get_world_size(),)))
    opt = torch.optim.AdamW(model.parameters())
    if resume:
        restore(resume, model, opt)
    for s in range(steps):
        loss = model(torch.randn(32, 512, device=dev)).square().mean()
        loss.backward(); opt.step(); opt.zero_grad()
        if s % 10 == 9:
            log.info("step %d loss %.4f", s, loss.item())
            save(f"{outdir}/step-{s + 1}", model, opt)
    dist.destroy_process_group()


main(sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
