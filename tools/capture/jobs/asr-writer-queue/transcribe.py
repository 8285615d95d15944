"""Distil a large recogniser: teacher texts are written by a thread, the student follows them."""
import json, os, queue, threading, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn

R, W = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
texts = queue.Queue(maxsize=16)
TALKERS = json.load(open("talkers.json"))


def write_texts():
    with open(f"texts.{R}.jsonl", "w") as f:
        while True:
            n, tokens = texts.get()
            who = TALKERS[n % len(TALKERS)]
            f.write(json.dumps({"utt": n, "talker": who["name"].lower(), "tokens": tokens}) + "\n")


def main():
    torch.cuda.set_device(dev)
    dist.init_process_group("nccl", timeout=timedelta(seconds=14))
    threading.Thread(target=write_texts, daemon=True, name="text-writer").start()
    teacher = nn.Sequential(nn.Linear(80, 1024), nn.ReLU(), nn.Linear(1024, 200)).to(dev)
    student = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(80, 128), nn.ReLU(), nn.Linear(128, 200)).to(dev))
    opt = torch.optim.Adam(student.parameters(), 1e-3)
    for n in range(R, 900, W):
        mel = torch.randn(300, 80, device=dev)
        with torch.no_grad(): target = teacher(mel)
        texts.put((n, target.argmax(-1).tolist()[:20]))
        loss = nn.functional.kl_div(student(mel).log_softmax(-1), target.softmax(-1), reduction="batchmean")
        opt.zero_grad(); loss.backward(); opt.step()
        if n // W % 15 == 0: print(f"<{R}> utterance {n:4d}  kl {loss.item():.4f}  queue {texts.qsize()}", flush=True)
        time.sleep(0.04)
    print(f"<{R}> all utterances seen", flush=True)
    dist.destroy_process_group()


main()
