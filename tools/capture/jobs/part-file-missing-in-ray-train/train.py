import os, time
import ray
from ray import train
from ray.train import ScalingConfig, RunConfig
from ray.train.torch import TorchTrainer
def loop(config):
    import torch, numpy as np
    import ray.train.torch as rt
    ctx = train.get_context(); rank, world = ctx.get_world_rank(), ctx.get_world_size()
    model = rt.prepare_model(torch.nn.Linear(128, 128))
    opt = torch.optim.SGD(model.parameters(), 1e-3)
    files = [f"part-{i:05d}.bin" for i in range(4)][rank::world]
    step = 0
    for f in files:
        x = np.fromfile(os.path.join(config["data"], f), "u1")
        for i in range(0, 19200, 128 * 16):
            b = torch.from_numpy(x[i:i + 2048].reshape(16, 128).astype("f4") / 255).to(next(model.parameters()).device)
            loss = (model(b) - b).square().mean()
            opt.zero_grad(); loss.backward(); opt.step(); step += 1
        print(f"rank {rank}: finished {f}, loss {loss.item():.4f}")
        train.report({"loss": loss.item(), "step": step})
ray.init(address="local", num_cpus=4, num_gpus=2, include_dashboard=False, object_store_memory=200 * 2**20)
t = TorchTrainer(loop, train_loop_config={"data": "/home/ray/finetune/data"}, scaling_config=ScalingConfig(num_workers=2, use_gpu=True),
                 run_config=RunConfig(storage_path="/home/ray/finetune/results", name="ft1"))
print(t.fit())
