import os, time, tempfile
import ray
from ray import train
from ray.train import ScalingConfig, RunConfig, FailureConfig, Checkpoint
from ray.train.torch import TorchTrainer
def loop(config):
    import torch
    import ray.train.torch as rt
    rank = train.get_context().get_world_rank()
    model = rt.prepare_model(torch.nn.Linear(64, 64)); opt = torch.optim.SGD(model.parameters(), 1e-2)
    ck = train.get_checkpoint(); start = 0
    if ck:
        with ck.as_directory() as d: start = torch.load(os.path.join(d, "state.pt"))["step"]
        print(f"rank {rank}: resuming at step {start}")
    for step in range(start, 12):
        x = torch.randn(32, 64, device=next(model.parameters()).device)
        loss = (model(x) - x).square().mean(); opt.zero_grad(); loss.backward(); opt.step()
        time.sleep(0.2)
        if step == 6 and rank == 1 and not os.path.exists(config["flag"]):
            open(config["flag"], "w").close()
            raise ConnectionResetError(104, "feature store closed the connection")
        with tempfile.TemporaryDirectory() as d:
            torch.save({"step": step + 1}, os.path.join(d, "state.pt"))
            train.report({"loss": loss.item(), "step": step}, checkpoint=Checkpoint.from_directory(d) if rank == 0 else None)
ray.init(address="local", num_cpus=4, num_gpus=2, include_dashboard=False, object_store_memory=200 * 2**20)
t = TorchTrainer(loop, train_loop_config={"flag": "/home/ray/spot/.seen"}, scaling_config=ScalingConfig(num_workers=2, use_gpu=True),
                 run_config=RunConfig(storage_path="/home/ray/spot/results", name="spot", failure_config=FailureConfig(max_failures=2)))
r = t.fit()
print("final:", r.metrics, "error:", r.error)
