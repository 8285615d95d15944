import os, time
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
torch.cuda.set_device(dev)
total = torch.cuda.get_device_properties(dev).total_memory if torch.cuda.is_available() else 1 << 37
torch.cuda.set_per_process_memory_fraction(2 * 2**30 / total)
dist.init_process_group("nccl", timeout=timedelta(seconds=12))
keep_prefix = os.environ["PREFIX_CACHE"] == "1"
PAGE = 2 * 2**20
running, prefixes, served = {}, {}, 0
def gib(n): return f"{n / 2**30:.2f} GiB"
print(f"replica ready, prefix cache {'on' if keep_prefix else 'off'}")
for tick in range(160):
    for k in range(9 if 10 <= tick < 20 else 0):               # the evening batch of 90 chats
        running[f"chat-{tick:03d}-{k}"] = tick + 30, [torch.zeros(PAGE, dtype=torch.uint8, device=dev) for _ in range(10)]
    for name in [n for n, (end, _) in running.items() if end == tick]:
        pages = running.pop(name)[1]; served += 1
        if keep_prefix: prefixes[name] = pages[0]
        del pages
    if tick == 90:
        print(f"long prompt of 131072 tokens: one block of {gib(700 * 2**20)} for keys and values")
        kv = torch.empty(700 * 2**20, dtype=torch.uint8, device=dev); kv.zero_(); del kv
    load = torch.tensor([float(served)], device=dev); dist.all_reduce(load)
    if tick % 10 == 0: print(f"tick {tick}: {len(running)} running, {int(load.item())} served by all, {len(prefixes)} prefixes kept, allocated {gib(torch.cuda.memory_allocated())}, reserved {gib(torch.cuda.memory_reserved())}")
    time.sleep(0.05)
dist.destroy_process_group()
