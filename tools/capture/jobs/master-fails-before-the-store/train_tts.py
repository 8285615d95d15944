import argparse, json, os, socket, sys, time
from datetime import timedelta
import torch, torch.distributed as dist

def load_speakers(cfg):
    table = json.load(open("speaker_map.json"))
    return [table[s] for s in cfg["speakers"]]

def main():
    p = argparse.ArgumentParser(); p.add_argument("--config"); a = p.parse_args()
    rank = int(os.environ["RANK"])
    cfg = json.load(open(a.config))
    print(f"{time.strftime('%H:%M:%S')} {socket.gethostname()} rank {rank} config {a.config}: {cfg['n_mels']} mels, {len(cfg['speakers'])} speakers", flush=True)
    if rank == 0:
        ids = load_speakers(cfg)
        print("speaker ids", ids)
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo", timeout=timedelta(seconds=20))
    print(f"rank {rank} ready", flush=True)
    for i in range(20):
        t = torch.zeros(2); time.sleep(0.1)
    dist.destroy_process_group()

main()
