import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
places = os.environ["GPU_OF_RANK"].split(",")
def say(m): print(f"{time.strftime('%H:%M:%S')} vc {rank} {m}", flush=True)
say(f"gpu {places[rank]} of {torch.cuda.device_count()}")
dev = torch.device("cuda", int(places[rank]))
dist.init_process_group("nccl", timeout=timedelta(seconds=15))
vocoder = nn.Sequential(nn.Conv1d(80, 256, 7, padding=3), nn.LeakyReLU(), nn.ConvTranspose1d(256, 1, 16, stride=8)).to(dev)
vocoder = nn.parallel.DistributedDataParallel(vocoder)
opt = torch.optim.AdamW(vocoder.parameters(), 2e-4)
for step in range(120):
    wav = vocoder(torch.randn(8, 80, 64, device=dev)); loss = wav.abs().mean(); opt.zero_grad(); loss.backward(); opt.step()
    if step % 20 == 0: say(f"step {step} mel {loss.item():.4f}")
dist.destroy_process_group()
