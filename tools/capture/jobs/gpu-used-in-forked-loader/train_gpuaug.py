import os, torch, torch.distributed as dist
from torch.utils.data import DataLoader, Dataset
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank)
class Crops(Dataset):
    def __len__(self): return 128
    def __getitem__(self, i): return torch.rand(3, 16, 16).to(dev).mul(2).sub(1)
torch.cuda.set_device(dev); dist.init_process_group("nccl", device_id=dev)
w = torch.zeros(1, device=dev); dist.all_reduce(w); print(f"rank {rank} ready", flush=True)
for b, x in enumerate(DataLoader(Crops(), 16, num_workers=2)):
    g = x.mean(); dist.all_reduce(g); print(f"rank {rank} batch {b}", flush=True)
dist.destroy_process_group()
