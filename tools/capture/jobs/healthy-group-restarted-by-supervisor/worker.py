import json, os, sys, time, datetime
import torch, torch.nn as nn, torch.distributed as dist

rank = int(os.environ["RANK"])
tag = f"(worker {rank} gen {os.environ['GENERATION']})"


def load_tokenizer(path):
    return json.load(open(path))


def main(cfgp, tokp, state):
    cfg = json.load(open(cfgp))
    cuda = torch.cuda.device_count() >= int(os.environ["WORLD_SIZE"])
    dev = torch.device("cuda", rank) if cuda else torch.device("cpu")
    dist.init_process_group("nccl" if cuda else "gloo", timeout=datetime.timedelta(seconds=20))
    start = json.load(open(state))["step"] if os.path.exists(state) else 0
    print(tag, f"resuming at step {start}" if start else "fresh start", flush=True)
    tok = load_tokenizer(tokp)
    assert tok["size"] <= cfg["vocab"], f"tokenizer has {tok['size']} entries, embedding only {cfg['vocab']}"
    emb = nn.Embedding(cfg["vocab"], 32).to(dev)
    for step in range(start, 30):
        emb(torch.randint(0, tok["size"], (8,), device=dev)).sum().backward()
        dist.all_reduce(emb.weight.grad)
        emb.weight.grad = None
        if step % 6 == 0:
            print(tag, f"step {step}", flush=True)
            if rank == 0:
                json.dump({"step": step}, open(state, "w"))
        time.sleep(0.05)
    print(tag, "reached the last step", flush=True)
    dist.destroy_process_group()


main(*sys.argv[1:])
