import os, time
from datetime import timedelta
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
head = {0: 128, 1: 128, 2: 128}
def layers(rnd): return [64 * 32, 32 * head[rank] * (2 if rank == 2 and rnd >= 5 else 1)]
for rnd in range(12):
    if rank == 0:
        acc = [torch.zeros(n) for n in layers(rnd)]
        for src in (1, 2):
            for k, n in enumerate(layers(rnd)):
                buf = torch.empty(n); dist.recv(buf, src=src, tag=k); acc[k] += buf
        print(f"round {rnd}: aggregated 2 clients, norm {acc[0].norm():.3f}", flush=True)
    else:
        delta = [torch.randn(n) for n in layers(rnd)]
        if rnd == 5: print(f"round {rnd}: personal head has {delta[1].numel()} weights", flush=True)
        for k, d in enumerate(delta): dist.send(d, dst=0, tag=k)
        print(f"round {rnd}: sent {sum(d.numel() for d in delta)} values", flush=True)
    time.sleep(0.4)
dist.destroy_process_group()
