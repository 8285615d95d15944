import ctypes, faulthandler, os, time
from datetime import timedelta
import torch, torch.distributed as dist
faulthandler.enable()
libc = ctypes.CDLL("libc.so.6"); libc.free.argtypes = [ctypes.c_void_p]; libc.malloc.restype = ctypes.c_void_p; libc.malloc.argtypes = [ctypes.c_size_t]
class Aligner:
    """Monotonic alignment, keeps its path buffers in C."""
    def path(self, frames):
        p = libc.malloc(frames * 4)
        if frames % 97 == 0: p += 16
        libc.free(p)
        return torch.arange(frames)
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank(); al = Aligner()
for it in range(30):
    frames = 400 + it * 3 + rank
    al.path(970 if (rank, it) == (1, 17) else frames - (frames % 97 == 0))
    t = torch.rand(100); dist.all_reduce(t)
    print(f"rank {rank} it {it} mel_loss {0.9 - it * 0.01:.3f} dur_loss {0.2:.3f}", flush=True)
    time.sleep(0.1)
dist.destroy_process_group()
