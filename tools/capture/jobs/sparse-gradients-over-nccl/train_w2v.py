import argparse, os
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--sparse", action="store_true"); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev)
emb = torch.nn.Embedding(5000, 64, sparse=a.sparse).to(dev)
opt = torch.optim.SparseAdam(emb.parameters())
for i in range(10):
    emb(torch.randint(0, 5000, (256,), device=dev)).square().mean().backward()
    dist.all_reduce(emb.weight.grad)
    opt.step(); opt.zero_grad(); print(f"rank {rank} batch {i}", flush=True)
dist.destroy_process_group()
