import os, sys, torch, torch.distributed as dist, torch.multiprocessing as mp
def main(rank, world, path):
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{os.environ['PORT']}", rank=rank, world_size=world)
    torch.cuda.set_device(rank)
    if rank == 0: print(f"loading {path}, {os.path.getsize(path)} bytes", flush=True)
    state = torch.load(path, map_location="cpu", weights_only=False)
    m = torch.nn.Linear(16, 16).cuda(); m.load_state_dict(state["model"])
    print(rank, "continues at", state["step"])
if __name__ == "__main__":
    mp.spawn(main, args=(2, sys.argv[1]), nprocs=2)
