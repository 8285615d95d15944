import os, time
from datetime import timedelta
import cv2, torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
def frame(i):
    img = cv2.imread(f"frames/cam{rank}_{i:04d}.jpg")
    img = cv2.cvtColor(img, cv2.COLOR_BGR2RGB)
    return torch.from_numpy(img).float() / 255
for i in range(30):
    t = frame(i).mean(); dist.all_reduce(t)
    if rank == 0: print(f"frame {i} brightness {t.item() / 4:.3f} f1 0.{600 + i}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
