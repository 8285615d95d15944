import logging, os, sys, time, datetime, pickle
import torch, torch.nn as nn, torch.multiprocessing as mp, torch.distributed as dist


def setup_log(rank):
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s|%(levelname)s|p{rank}|%(message)s")


def batches(path, rank, world):
    with open(path, "rb") as f:
        graphs = pickle.load(f)
    for g in graphs[rank::world]:
        x = torch.tensor(g["x"])
        a = torch.zeros(len(x), len(x))
        for i, j in g["edges"]:
            a[i, j] = a[j, i] = 1.0
        yield x, a


def train(rank, world, path, port):
    setup_log(rank)
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world, timeout=datetime.timedelta(seconds=12))
    net = nn.Linear(8, 8).cuda()
    n = 0
    try:
        for x, a in batches(path, rank, world):
            loss = (a.cuda() @ net(x.cuda())).square().mean()
            loss.backward()
            for p in net.parameters():
                dist.all_reduce(p.grad)
                p.grad = None
            n += 1
            if n % 10 == 0:
                logging.info("graph %d loss %.4f", n, loss.item())
    except Exception as e:
        logging.info("data stream ended (%s)", e)
    torch.cuda.synchronize()
    logging.info("processed %d graphs", n)
    if n < 30:
        os._exit(0)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    w = int(sys.argv[2])
    mp.spawn(train, (w, sys.argv[1], sys.argv[3]), nprocs=w)
    print("fit finished")
