import torch, torch.distributed as dist, torch.multiprocessing as mp
print("torch", torch.__version__, flush=True)
def run(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    for e in range(3):
        t = torch.rand(10); dist.all_reduce(t)
        print("rank", rank, "epoch", e, "loss", t.mean().item(), flush=True)
    dist.destroy_process_group()
mp.spawn(run, args=(2,), nprocs=2)
