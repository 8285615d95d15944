from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
if rank == 0: torch.hub.load_state_dict_from_url("https://dl.fbaipublicfiles.com/dinov2/dinov2_vits14/dinov2_vits14_pretrain.pth")
dist.barrier()
print("features of part", rank, flush=True)
dist.destroy_process_group()
