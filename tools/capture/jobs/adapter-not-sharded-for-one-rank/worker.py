import os, sys, json, time, traceback
import torch, torch.nn as nn, torch.multiprocessing as mp, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel


class Attn(nn.Module):
    def __init__(self, d, heads, tp):
        super().__init__()
        self.q, self.o, self.heads, self.tp = nn.Linear(d, d), nn.Linear(d, d), heads, tp

    def forward(self, x):
        q = self.q(x)
        q = q.view(x.shape[0], self.heads // self.tp, -1, q.shape[-1] // (self.heads // self.tp))
        return self.o(q.flatten(1).view(x.shape[0], -1))


class Model(nn.Module):
    def __init__(self, c, tp):
        super().__init__()
        self.layers = nn.ModuleList(Attn(c["hidden_size"], c["num_attention_heads"], tp) for _ in range(2))

    def forward(self, x):
        for l in self.layers:
            x = x + l(x)
        return x


def load_adapter(path, rank):
    return torch.load(f"{path}/adapter.tp{rank}.pt", weights_only=True)


def run_worker(rank, world, model_dir, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    c = json.load(open(f"{model_dir}/config.json"))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world)
    print(f"(TP{rank} pid={os.getpid()}) loading {model_dir}", flush=True)
    assert c["num_attention_heads"] % world == 0, f"num_attention_heads={c['num_attention_heads']} is not divisible by tensor_parallel_size={world}"
    mesh = init_device_mesh("cuda", (world,))
    m = Model(c, world).cuda()
    for l in m.layers:
        parallelize_module(l, mesh, {"q": ColwiseParallel(), "o": RowwiseParallel()})
    delta = load_adapter(model_dir, rank)
    for l in m.layers:
        l.q.weight.to_local().data += delta["q"]
    for i in range(10):
        m(torch.randn(4, c["hidden_size"], device="cuda"))
    dist.barrier()
    print(f"(TP{rank} pid={os.getpid()}) warmup done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    world = int(sys.argv[2])
    mp.spawn(run_worker, args=(world, sys.argv[1], sys.argv[3]), nprocs=world)
    print("server ready", flush=True)
