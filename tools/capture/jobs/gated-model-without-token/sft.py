import argparse, time
from datetime import timedelta
import torch.distributed as dist
from huggingface_hub import hf_hub_download
p = argparse.ArgumentParser(); p.add_argument("--model"); a = p.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=25))
if dist.get_rank() == 0:
    print("local main process fetches the config first", flush=True)
    print(hf_hub_download(a.model, "config.json"))
dist.barrier()
print("config there", flush=True)
dist.destroy_process_group()
