import argparse, logging
import torch
from torch import nn
import ignite.distributed as idist
from ignite.engine import Engine, Events
from ignite.utils import setup_logger
p = argparse.ArgumentParser(); p.add_argument("--nproc", type=int); p.add_argument("--epochs", type=int)
args = p.parse_args()
class Pets(torch.utils.data.Dataset):
    def __len__(self): return 1200
    def __getitem__(self, i): return torch.randn(3, 32, 32), (i % 37 if i != 833 else -1), i
def collate(b):
    x = torch.stack([v[0] for v in b]); y = torch.tensor([v[1] for v in b if v[1] >= 0])
    return x, y
def training(local_rank, args):
    rank = idist.get_rank()
    logger = setup_logger(name=f"trainer[{rank}]", distributed_rank=0)
    sampler = torch.utils.data.distributed.DistributedSampler(Pets(), shuffle=False)
    loader = torch.utils.data.DataLoader(Pets(), batch_size=40, sampler=sampler, collate_fn=collate)
    model = idist.auto_model(nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 37)))
    opt = idist.auto_optim(torch.optim.SGD(model.parameters(), 0.1))
    def update(engine, batch):
        x, y = batch[0].to(idist.device()), batch[1].to(idist.device())
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        return loss.item()
    trainer = Engine(update); trainer.logger = setup_logger(f"engine[{rank}]", distributed_rank=0)
    @trainer.on(Events.ITERATION_COMPLETED(every=3))
    def log(e): logger.info(f"epoch {e.state.epoch} iteration {e.state.iteration} loss {e.state.output:.4f}")
    trainer.run(loader, max_epochs=args.epochs)
if __name__ == "__main__":
    with idist.Parallel(backend="nccl", nproc_per_node=args.nproc, master_port=int(__import__("os").environ["PORT"])) as parallel:
        parallel.run(training, args)
