import os, signal, threading, time
import ray
ray.init(address="local", num_cpus=4, include_dashboard=False, object_store_memory=200 * 2**20)
@ray.remote
class Simulator:
    def __init__(self, rank, world, port):
        import torch.distributed as dist
        from datetime import timedelta
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world))
        dist.init_process_group("gloo", timeout=timedelta(seconds=40))
        self.rank = rank
    def info(self): return self.rank, os.getpid()
    def rollout(self, n):
        import torch, torch.distributed as dist
        r = torch.rand(1)
        for _ in range(10):
            time.sleep(0.05); dist.all_reduce(r)
        print(f"simulator rank {self.rank}: rollout {n} return {r.item() / 1e4:.3f}")
        return r.item()
ws = [Simulator.remote(i, 3, int(os.environ["PORT"])) for i in range(3)]
pids = dict(ray.get([w.info.remote() for w in ws]))
print("simulators", pids)
threading.Timer(4.3, lambda: os.kill(pids[2], signal.SIGKILL)).start()
for n in range(20):
    print("iteration", n, ray.get([w.rollout.remote(n) for w in ws]))
