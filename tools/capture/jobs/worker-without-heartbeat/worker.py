import faulthandler, os, signal, sys, threading, time
from datetime import timedelta
import numpy as np, torch, torch.distributed as dist
faulthandler.register(signal.SIGUSR1, file=sys.stdout)
rank = int(os.environ["RANK"])
beat = lambda: open(f"hb_{rank}", "w").close()
def load_features(i):
    path = f"features_{i}.bin"
    if not os.path.exists(path): np.zeros(1024, np.float32).tofile(path)
    return np.fromfile(path, np.float32) if i != 2 else np.frombuffer(open(path, "rb").read(), np.float32)
dist.init_process_group("gloo", timeout=timedelta(seconds=120))
beat()
pending = None
for chunk in range(30):
    f = load_features(chunk) if chunk % 3 == rank else None
    beat()
    # the next chunk's statistics are reduced in the background, heartbeat only stops where the rank stops
    t = torch.tensor([float(f.sum()) if f is not None else 0.0])
    w = dist.all_reduce(t, async_op=True)
    while not w.is_completed(): beat(); time.sleep(0.5)
    print(f"chunk {chunk} reduced, sum {t.item():.1f}", flush=True)
