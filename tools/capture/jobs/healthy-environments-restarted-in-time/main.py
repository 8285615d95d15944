import sys, yaml, queue, torch, torch.nn as nn
import torch.multiprocessing as mp
from jlog import jlog
from rollout import actor_main


def main(cfg):
    ctx = mp.get_context("spawn")
    outq = ctx.Queue()
    actors = [ctx.Process(target=actor_main, args=(i, outq, cfg["batches"], cfg["batch"], cfg["flaky_envs"], cfg["policy"]), daemon=True) for i in range(cfg["actors"])]
    for a in actors:
        a.start()
    dev = "cuda" if torch.cuda.is_available() else "cpu"
    net = nn.Linear(4, 1).to(dev)
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    seen, skipped = {i: 0 for i in range(cfg["actors"])}, 0
    for b in range(cfg["batches"]):
        rewards = []
        while len(rewards) < cfg["batch"] * cfg["actors"]:
            r = outq.get(timeout=cfg["reward_timeout"])
            seen[r["actor"]] += 1
            rewards.append(r["reward"])
        t = torch.tensor(rewards, device=dev)
        adv = (t - t.mean()) / (t.std() + 1e-6)
        ratio = net(torch.randn(len(t), 4, device=dev)).squeeze(-1)
        loss = -(ratio * adv).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        jlog("info", "ppo update", batch=b, loss=round(loss.item(), 5), mean_reward=round(t.mean().item(), 4), samples_per_actor=seen)
    jlog("info", "training finished", updates=cfg["batches"])
    for a in actors:
        a.join()


if __name__ == "__main__":
    main(yaml.safe_load(open(sys.argv[1])))
