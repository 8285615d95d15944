import math, random, threading, time, queue
from jlog import jlog


class RewardModel:
    def __init__(self, actor_id, seed):
        self.actor_id, self.rng = actor_id, random.Random(seed)

    def score(self, sample):
        toks = sample["response"].split()
        return sum(len(t) for t in toks) / len(toks) - 0.1 * sample["kl"]


def scorer_loop(actor_id, inq, outq, rm):
    while True:
        sample = inq.get()
        try:
            outq.put({"actor": actor_id, "id": sample["id"], "reward": rm.score(sample)})
        except Exception as e:
            jlog("warning", "reward thread stopped", actor=actor_id, sample=sample["id"], exc=f"{type(e).__name__}: {e}", response=sample["response"])
            return


def actor_main(actor_id, outq, n_batches, batch, flaky, policy):
    rng = random.Random(actor_id * 17)
    inq, rm = queue.Queue(), RewardModel(actor_id, actor_id)
    threading.Thread(target=scorer_loop, args=(actor_id, inq, outq, rm), daemon=True).start()
    jlog("info", "actor up", actor=actor_id)
    words = ["the", "answer", "is", "forty", "two", "because", "policy"]
    for b in range(n_batches):
        for k in range(batch):
            n = rng.randint(1, 12)
            if policy == "early-eos" and actor_id == 2 and b == 4 and k == 1:
                n = 0
            if flaky and rng.random() < 0.08:
                jlog("error", "env step timed out, environment killed and restarted", actor=actor_id, env=k, timeout_s=2.0)
                time.sleep(0.2)
            inq.put({"id": f"{b}-{actor_id}-{k}", "response": " ".join(rng.choices(words, k=n)), "kl": rng.random()})
        jlog("info", "rollout batch generated", actor=actor_id, batch=b, samples=batch)
        time.sleep(0.3)
    time.sleep(1 if policy != "early-eos" else 60)
    jlog("info", "actor finished", actor=actor_id)
