import os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank, tp = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
BUCKETS = [int(b) for b in os.environ.get("GRAPH_BATCHES", "1,2,4,8,16").split(",")]

def log(m): print(f"(Worker_TP{rank} pid={os.getpid()}) INFO {time.strftime('%m-%d %H:%M:%S')} [engine.py] {m}", flush=True)

class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.ModuleList([nn.Linear(2048, 8192 // tp), nn.Linear(8192 // tp, 2048)]) for _ in range(4))
        self.head = nn.Linear(2048, 32000)
    def forward(self, x):
        for up, down in self.layers: x = x + down(torch.relu(up(x)))
        return self.head(x).softmax(-1)

def main():
    torch.cuda.set_device(device); torch.cuda.set_per_process_memory_fraction(0.016)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    net = Decoder().to(device).eval(); log(f"weights loaded, {torch.cuda.memory_allocated() >> 20} MiB")
    dist.barrier(); graphs = {}
    with torch.no_grad():
        for b in sorted(BUCKETS, reverse=True):
            x = torch.zeros(b, 64, 2048, device=device)
            side = torch.cuda.Stream(); side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side): net(x[:1])
            torch.cuda.current_stream().wait_stream(side)
            g = torch.cuda.CUDAGraph()
            with torch.cuda.graph(g): y = net(x)
            graphs[b] = g, x, y
            log(f"captured graph for batch {b}, {torch.cuda.memory_reserved() >> 20} MiB reserved")
    dist.barrier(); log("graph capturing finished")
    for n in range(100):
        b = BUCKETS[n % len(BUCKETS)]; graphs[b][0].replay(); s = graphs[b][2].sum(); dist.all_reduce(s)
        if n % 20 == 0: log(f"decode step {n} batch {b} {s.item():.1f}")
    dist.destroy_process_group()
main()
