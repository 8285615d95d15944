import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist


class Trainer:
    def __init__(self):
        self.rank, self.world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        torch.cuda.set_device(self.device)
        dist.init_process_group("nccl", timeout=timedelta(seconds=15))
        self.weight = torch.zeros(1024, 1024, device=self.device)

    def say(self, text):
        print(f"[{time.strftime('%H:%M:%S')} {self.rank}/{self.world}] {text}", flush=True)

    def resume(self, folder):
        path = f"{folder}/step4000-part{self.rank}of{self.world}.pt"
        self.say(f"resuming from {path} ({os.path.getsize(path)} bytes)")
        state = torch.load(path, map_location=self.device)
        self.weight.copy_(state["weight"])
        self.step = state["step"]

    def fit(self, steps):
        full = torch.empty(1024 * self.world, 1024, device=self.device)
        dist.all_gather_into_tensor(full, self.weight)
        self.say(f"gathered {full.numel()} weights")
        for _ in range(steps):
            self.step += 1
            grad = torch.randn_like(full) * 1e-3
            part = torch.empty_like(self.weight)
            dist.reduce_scatter_tensor(part, grad)
            self.weight -= part
            if self.step % 20 == 0:
                self.say(f"step {self.step} |g| {part.norm().item():.4f}")


if __name__ == "__main__":
    trainer = Trainer()
    trainer.resume("ckpt")
    trainer.fit(100)
    dist.destroy_process_group()
