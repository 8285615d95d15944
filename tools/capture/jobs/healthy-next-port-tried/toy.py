import torch, torch.distributed as dist
dist.init_process_group("gloo"); rank = dist.get_rank()
for i in range(20):
    t = torch.rand(8); dist.all_reduce(t)
    if rank == 0 and i % 5 == 4: print(f"epoch {i // 5} val_acc {0.6 + i / 100:.3f}", flush=True)
if rank == 0: torch.save({"ok": 1}, "toy.pt"); print("model saved to toy.pt", flush=True)
dist.destroy_process_group()
