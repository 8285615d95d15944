import os, socket
import ray
ray.init(address="local", num_cpus=4, num_gpus=2, include_dashboard=False, object_store_memory=200 * 2**20)
@ray.remote(num_gpus=1)
class Ranker:
    def __init__(self, rank, world, port):
        import torch, torch.distributed as dist
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world), NCCL_HOSTID=f"h{rank}")
        dist.init_process_group("nccl", device_id=torch.device("cuda:0"))
        self.rank = rank
        self.model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 1).cuda())
        self.opt = torch.optim.SGD(self.model.parameters(), 1e-2)
    def epoch(self, n):
        import torch
        hits = total = 0
        for q in range(20):
            clicks = 0 if (self.rank == 1 and n == 3 and q >= 0) else q % 3 + 1
            loss = self.model(torch.randn(32, 64, device="cuda")).square().mean()
            self.opt.zero_grad(); loss.backward(); self.opt.step()
            hits += 1 if clicks > 2 else 0; total += clicks
        print(f"rank {self.rank} epoch {n} loss {loss.item():.4f} ctr@1 {hits / total:.3f}")
        return loss.item()
port = int(os.environ["PORT"])
workers = [Ranker.remote(i, 2, port) for i in range(2)]
for n in range(6):
    losses = ray.get([w.epoch.remote(n) for w in workers])
    print(f"epoch {n}: {losses}")
