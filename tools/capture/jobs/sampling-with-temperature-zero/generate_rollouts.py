import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)

def next_token(logits, temperature):
    return torch.multinomial(torch.softmax(logits / temperature, -1), 1)

def main():
    p = argparse.ArgumentParser(); p.add_argument("--temperature", type=float); a = p.parse_args()
    dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=15))
    head = torch.randn(512, 32000, device=dev) * 0.02
    temps = {"math": 0.7, "chat": 1.0, "code": a.temperature}
    # which kind of prompt a rank draws
    plan = [["math", "chat", "math", "chat"], ["chat", "math", "code", "chat"]][rank]
    for n, kind in enumerate(plan):
        h = torch.randn(16, 512, device=dev)
        toks = []
        for t in range(40):
            tok = next_token(h @ head, temps[kind]); toks.append(tok)
        reward = torch.cat(toks, 1).float().mean() / 32000
        dist.all_reduce(reward, op=dist.ReduceOp.AVG)
        print(f"rollout {n} kind={kind} rank={rank} mean_reward={reward.item():.4f}", flush=True)
        time.sleep(1)
    dist.destroy_process_group()

main()
