import logging, os, random, time
from datetime import timedelta
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.distributed_c10d import _set_pg_timeout

LAYERS, DIM, WARM = 6, 128, 20
rank = int(os.environ["RANK"])
logging.basicConfig(format="%(levelname).1s %(asctime)s.%(msecs)03d %(module)s:%(lineno)d] %(message)s", datefmt="%m%d %H:%M:%S", level=logging.INFO)


class Reduced(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        x = x.clone(); dist.all_reduce(x, group=group); return x

    @staticmethod
    def backward(ctx, g):
        return g, None


def main():
    dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl", timeout=timedelta(seconds=10))
    mesh = init_device_mesh(dev.type, (2, 2), mesh_dim_names=("dp", "tp"))
    tp, dp = mesh.get_group("tp"), mesh.get_group("dp")
    for group in (tp, dp): _set_pg_timeout(timedelta(seconds=10), group)
    draw = random.Random(int(open(f"rng/{rank}").read()))       # state saved by the former run
    up = [torch.randn(DIM, DIM * 2, device=dev) * 0.02 for _ in range(LAYERS)]
    down = [torch.randn(DIM * 2, DIM, device=dev) * 0.02 for _ in range(LAYERS)]
    for p in up + down: p.requires_grad_()
    if rank == 0: logging.info("mesh %s, %d layers, layers are dropped after step %d", tuple(mesh.shape), LAYERS, WARM)
    for step in range(300):
        h = torch.randn(64, DIM, device=dev)
        dist.broadcast(h, src=dist.get_global_rank(tp, 0), group=tp)
        rate = 0.0 if step < WARM else 0.2
        for a, b in zip(up, down):
            if draw.random() < rate:
                continue
            h = h + Reduced.apply(torch.relu(h @ a) @ b, tp)
        loss = h.square().mean(); loss.backward()
        for p in up + down:
            if p.grad is None: p.grad = torch.zeros_like(p)
            dist.all_reduce(p.grad, group=dp)
            p.data -= 1e-3 * p.grad; p.grad = None
        if rank == 0 and step % 10 == 0: logging.info("step %d loss %.5f", step, loss.item())
        time.sleep(0.02)
    dist.destroy_process_group()


main()
