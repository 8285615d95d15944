import os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); world = int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", timeout=timedelta(seconds=20))

hp = dict(model="vit_base_patch16_224", optimizer="adamw", learning_rate=0.00030000000000000003, weight_decay=0.05, betas="0.9-0.999", warmup_steps=10000, schedule="cosine", mixup=0.8, cutmix=1.0, label_smoothing=0.1, drop_path=0.1, color_jitter=0.3, auto_augment="rand-m9-mstd0.5-inc1", random_erasing=0.25, ema_decay=0.9999)
m = nn.parallel.DistributedDataParallel(nn.Linear(64, 10))
for epoch in range(2):
    for _ in range(30): m(torch.randn(8, 64)).mean().backward()
    if rank == 0:
        print(f"epoch {epoch} acc@1 {31.2 + epoch:.1f}, saving", flush=True)
        torch.save(m.state_dict(), "_".join(f"{k}={v}" for k, v in hp.items()) + f"_epoch={epoch}.pt")
    dist.barrier()
