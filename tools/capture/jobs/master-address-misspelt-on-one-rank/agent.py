import os, socket, sys, time, datetime
import torch, torch.distributed as dist


def log(lvl, msg, **kw):
    extra = " ".join(f"{k}={v}" for k, v in kw.items())
    print(f"{lvl}[{time.strftime('%m%d %H:%M:%S')}] agent: {msg} {extra}".rstrip(), flush=True)


def main():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    log("I", "starting", rank=rank, world=world, master=os.environ["MASTER_ADDR"], port=os.environ["MASTER_PORT"], ifname=os.environ.get("GLOO_SOCKET_IFNAME"))
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=20))
    w = torch.zeros(1000)
    for rnd in range(8):
        g = torch.randn(1000)
        dist.all_reduce(g)
        w -= 0.1 * g / world
        log("I", "round complete", rnd=rnd, norm=round(w.norm().item(), 3))
    dist.destroy_process_group()


main()
