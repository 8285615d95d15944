"""Ranks 0-1 learn, ranks 2-5 generate; weights are broadcast after each round."""

import os, random, sys, time, threading, queue
from datetime import timedelta

import torch
import torch.distributed as dist

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ROLE = "learner" if RANK < 2 else "generator"


def out(*a):
    print(time.strftime("[%H:%M:%S]"), f"{ROLE}-{RANK}", *a, flush=True)


def parse_reward(text):
    head, _, tail = text.partition("score=")
    return float(tail.split(",")[0])


def reply(rng, round_, i):
    if os.environ.get("STYLE") == "free" and round_ == 7 and RANK == 4 and i == 2:
        return "I would rather not give a score"
    return f"answer {rng.random():.3f} score={rng.random():.3f}, ok"


def build(extra):
    layers = [torch.nn.Linear(512, 512) for _ in range(4)]
    if extra:
        layers.append(torch.nn.LayerNorm(512))
    return torch.nn.Sequential(*layers).cuda()


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    dist.init_process_group("cpu:gloo,cuda:nccl", timeout=timedelta(seconds=20))
    learners = dist.new_group([0, 1])
    sync = dist.new_group(list(range(WORLD)), timeout=timedelta(seconds=20))
    torch.manual_seed(1)
    extra = ROLE == "generator" and RANK == int(os.environ.get("VALUE_HEAD_ON", -1))
    net = build(extra)
    rng = random.Random(RANK)
    for round_ in range(int(os.environ.get("ROUNDS", 14))):
        scores = []
        if ROLE == "generator":
            for i in range(6):
                text = reply(rng, round_, i)
                try:
                    scores.append(parse_reward(text))
                except (ValueError, IndexError) as e:
                    if os.environ.get("STRICT"):
                        raise
                    out(f"round {round_}: reply {i} has no score ({e}), counted as 0")
                    scores.append(0.0)
            if RANK == int(os.environ.get("JUDGE_ON", -1)) and round_ == 6:
                out("asking the judge for", len(scores), "replies")
                time.sleep(float(os.environ.get("JUDGE_TAKES", 0)))
                out("judge answered")
        gathered = [None] * WORLD
        dist.all_gather_object(gathered, scores)
        if ROLE == "learner":
            x = torch.randn(256, 512, device="cuda")
            loss = (net(x) - x).pow(2).mean() - sum(map(sum, gathered)) * 1e-4
            loss.backward()
            for p in net.parameters():
                dist.all_reduce(p.grad, group=learners)
                p.data -= 0.01 * p.grad
                p.grad = None
            if RANK == 0:
                flat = [s for g in gathered for s in g]
                out(f"round {round_} loss {loss.item():.4f} mean score {sum(flat) / len(flat):.3f} over {len(flat)} replies")
        for p in net.parameters():
            dist.broadcast(p.data, 0, group=sync)
        torch.cuda.synchronize()
        if ROLE == "generator" and RANK == 2:
            out(f"weights of round {round_} taken")
    out("all rounds done")
    dist.destroy_process_group()


main()
