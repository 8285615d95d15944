import argparse, hashlib, os, sys, time
from datetime import timedelta
import torch, torch.distributed as dist

CHECKSUMS = {"flowers102": "52808999861908f626f3c1f4e79d11fa"}

def fetch(name):
    path = f"/tmp/{name}-{os.environ['MASTER_PORT']}.tgz"
    with open(path, "wb") as f:
        f.write(b"\x1f\x8b" + b"0" * 300_000)
    return path

def verify(path, want):
    got = hashlib.md5(open(path, "rb").read()).hexdigest()
    if got != want:
        raise OSError(f"{os.path.basename(path)}: md5 {got}, expected {want}; remove the file and download it again")

def main():
    p = argparse.ArgumentParser(); p.add_argument("--dataset"); a = p.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(seconds=40))
    rank = dist.get_rank()
    store = dist.distributed_c10d._get_default_store()
    if rank == 0:
        print(f"downloading {a.dataset}: 100%|##########| 345M/345M [00:05<00:00, 61.2MB/s]", flush=True)
        time.sleep(5)
        path = fetch(a.dataset)
        verify(path, CHECKSUMS[a.dataset])
        store.set("dataset/ready", path)
    else:
        print(f"rank {rank}: waiting for the data set", flush=True)
        store.wait(["dataset/ready"], timedelta(seconds=20))
    print(f"rank {rank}: training", flush=True)
    dist.barrier()
    dist.destroy_process_group()

main()
