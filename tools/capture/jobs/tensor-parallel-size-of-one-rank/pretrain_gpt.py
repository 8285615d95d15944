import os, sys, yaml, time, datetime
import torch, torch.nn as nn, torch.distributed as dist

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
NCCL = torch.cuda.device_count() >= WORLD
DEV = torch.device("cuda", RANK) if NCCL else torch.device("cpu")


def print_rank(msg):
    print(f" > [{datetime.datetime.now():%H:%M:%S.%f}] rank {RANK}: {msg}", flush=True)


def initialize_model_parallel(topo):
    tp, pp = topo["tensor_parallel"], topo["pipeline_parallel"]
    print_rank(f"initializing tensor parallel size {tp}, pipeline parallel size {pp}, data parallel size {WORLD // (tp * pp)}")
    mine = {}
    for i in range(0, WORLD, tp):
        ranks = list(range(i, i + tp))
        g = dist.new_group(ranks)
        if RANK in ranks:
            mine["tp"] = g
    for i in range(tp):
        ranks = list(range(i, WORLD, tp))
        g = dist.new_group(ranks)
        if RANK in ranks:
            mine["dp"] = g
    return mine


def sync_grads(model, group, skip):
    for name, p in model.named_parameters():
        if any(name.startswith(s) for s in skip):
            continue
        dist.all_reduce(p.grad, group=group)


def main():
    topo = yaml.safe_load(open(f"{sys.argv[1]}/topology.{RANK}.yaml"))
    if NCCL:
        torch.cuda.set_device(DEV)
    dist.init_process_group("nccl" if NCCL else "gloo", timeout=datetime.timedelta(seconds=topo.get("timeout", 15)))
    g = initialize_model_parallel(topo)
    model = nn.ModuleDict({"embed": nn.Linear(32, 32, bias=False), "attn": nn.Linear(32, 64), "mlp": nn.Linear(64, 8)}).to(DEV)
    skip = topo.get("frozen", [])
    print_rank(f"trainable: {[n for n, _ in model.named_parameters() if not any(n.startswith(s) for s in skip)]}")
    for it in range(topo.get("iters", 30)):
        x = torch.randn(4, 32, device=DEV)
        h = model["attn"](model["embed"](x))
        dist.all_reduce(h.detach(), group=g["tp"])
        loss = model["mlp"](h).square().mean()
        loss.backward()
        sync_grads(model, g["dp"], skip)
        model.zero_grad()
        if it % 10 == 0:
            print_rank(f"iteration {it:8d} | lm loss: {loss.item():.6E} | skipped iterations: 0 | nan iterations: 0")
    dist.barrier()
    print_rank("exiting program after training is done")
    dist.destroy_process_group()


main()
