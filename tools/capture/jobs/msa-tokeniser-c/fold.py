import ctypes, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
libc = ctypes.CDLL("libc.so.6"); libc.strlen.argtypes = [ctypes.c_char_p]; libc.strlen.restype = ctypes.c_size_t
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())

CHAINS = [{"id": f"{i:04d}_A", "seq": b"MKTAYIAKQR" * (3 + i % 5)} for i in range(600)]
CHAINS[211]["seq"] = None            # chain without residues

def residues(chain):
    return libc.strlen(chain["seq"])

def main():
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl", timeout=timedelta(seconds=15))
    trunk = nn.parallel.DistributedDataParallel(nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 256, 0.0, batch_first=True), 2, enable_nested_tensor=False).to(dev))
    opt = torch.optim.Adam(trunk.parameters(), 1e-4)
    for n, chain in enumerate(CHAINS[rank::world]):
        length = residues(chain)
        x = torch.randn(4, length, 128, device=dev)
        loss = trunk(x).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
        if n % 12 == 0: print(f"{time.strftime('%X')} gpu{rank} chain {chain['id']} len {length} fape {loss.item():.3f}", flush=True)
        time.sleep(0.06)
    dist.destroy_process_group()
main()
