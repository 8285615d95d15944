import argparse, os, torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--device"); a = p.parse_args()
lr = int(os.environ["LOCAL_RANK"])
print(f"DDP: rank {os.environ['RANK']} on device {a.device.split(',')[lr]}", flush=True)
torch.cuda.set_device(lr)
dist.init_process_group("nccl")
x = torch.ones(1, device="cuda"); dist.all_reduce(x); print("ranks", x.item(), flush=True)
dist.destroy_process_group()
