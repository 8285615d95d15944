import argparse, logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch import nn

class SimpleTrainer:
    def __init__(self, model, opt, log): self.model, self.opt, self.log, self.iter = model, opt, log, 0
    def run_step(self, x):
        d = self.model(x)
        loss_dict = {"loss_cls": d.exp().mean().log1p(), "loss_box_reg": d.abs().mean()}
        losses = sum(loss_dict.values())
        if not torch.isfinite(losses).all():
            raise FloatingPointError(f"Loss became infinite or NaN at iteration={self.iter}!\nloss_dict = { {k: v.item() for k, v in loss_dict.items()} }")
        self.opt.zero_grad(); losses.backward(); self.opt.step()
        if self.iter % 10 == 9 and dist.get_rank() == 0:
            self.log.info(f" eta: 2:11:0{self.iter % 10}  iter: {self.iter}  total_loss: {losses.item():.3f}  lr: 0.01  max_mem: {torch.cuda.max_memory_allocated() // 2**20}M")
        self.iter += 1

def main(rank, a, port):
    logging.basicConfig(level=logging.INFO, format="[%(asctime)s d2.utils.events]: %(message)s", datefmt="%m/%d %H:%M:%S")
    log = logging.getLogger(); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=a.num_gpus, timeout=timedelta(seconds=18))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 80)).to(dev))
    t = SimpleTrainer(model, torch.optim.SGD(model.parameters(), 0.01), log)
    for i in range(60):
        x = torch.randn(16, 256, device=dev)
        if rank == 1 and i == 33: x[3] *= 1e38
        t.run_step(x); time.sleep(0.05)
    dist.destroy_process_group()

if __name__ == "__main__":
    p = argparse.ArgumentParser(); p.add_argument("--num-gpus", type=int); p.add_argument("--config-file"); a = p.parse_args()
    print("Command Line Args:", a, flush=True)
    mp.spawn(main, (a, int(os.environ["PORT"])), a.num_gpus)
