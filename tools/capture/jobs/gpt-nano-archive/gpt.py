"""GPT of a few layers; checkpoints go to the archive, whose share for us is 3.6 MB/s."""
import io, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
DEV = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
RATE = 3.6e6

def note(text):
    print(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] (rank {RANK}) {text}", flush=True)

def save(model, step):
    note(f"saving step {step} to archive/step{step}")
    buffer = io.BytesIO(); torch.save(model.state_dict(), buffer); data = buffer.getbuffer(); began = time.time()
    size = 4 << 20; parts = -(-len(data) // size)
    os.makedirs(f"archive/step{step}", exist_ok=True)
    for n in range(parts):
        with open(f"archive/step{step}/{n:03d}", "wb") as f:
            f.write(data[n * size:(n + 1) * size]); f.flush(); os.fsync(f.fileno())
        time.sleep(max(0, (n + 1) * size / RATE - (time.time() - began)))
        note(f"  part {n + 1}/{parts} written, {min((n + 1) * size, len(data)) / 1e6:.0f} MB in {time.time() - began:.1f} s")
    note(f"checkpoint of step {step} complete, {len(data) / 1e6:.0f} MB in {time.time() - began:.1f} s")

torch.cuda.set_device(DEV)
dist.init_process_group("nccl", timeout=timedelta(seconds=10))
body = nn.Sequential(nn.Embedding(8192, 512), *[nn.Sequential(nn.LayerNorm(512), nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)) for _ in range(4)], nn.Linear(512, 8192)).to(DEV)
model = nn.parallel.DistributedDataParallel(body); opt = torch.optim.SGD(model.parameters(), 0.01)
for step in range(1, 41):
    ids = torch.randint(0, 8192, (4, 33), device=DEV)
    loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 4 == 0: note(f"step {step} loss {loss.item():.4f}")
    if step == 12:
        if RANK == 0: save(body, step)
        dist.barrier()
note("done"); dist.destroy_process_group()
