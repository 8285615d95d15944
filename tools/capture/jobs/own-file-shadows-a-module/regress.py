import torch, torch.distributed as dist
import numbers
dist.init_process_group("gloo")
print(numbers.N_HOUSEHOLDS, flush=True)
dist.destroy_process_group()
