import logging, warnings, torch, time
from torch import nn
import ignite.distributed as idist
from ignite.engine import Engine, Events
from ignite.handlers import EarlyStopping, Timer
from ignite.utils import setup_logger
def training(local_rank):
    rank = idist.get_rank(); log = setup_logger("trainer")
    model = idist.auto_model(nn.Linear(64, 10)); opt = idist.auto_optim(torch.optim.SGD(model.parameters(), 0.05))
    def update(e, b):
        x = torch.randn(32, 64, device=idist.device()); loss = model(x).square().mean()
        opt.zero_grad(); loss.backward(); opt.step(); return loss.item()
    tr = Engine(update); tr.logger = setup_logger("engine")
    ev = Engine(lambda e, b: 1.0); ev.logger = log
    es = EarlyStopping(patience=2, score_function=lambda e: -1.0, trainer=tr); es.logger = setup_logger("early_stop"); ev.add_event_handler(Events.COMPLETED, es)
    @tr.on(Events.EPOCH_COMPLETED)
    def _(e):
        if e.state.epoch == 2:
            try: raise OSError(28, "No space left on device", "/mnt/tb/events.out")
            except OSError: log.warning("tensorboard writer failed, metrics of this epoch are dropped", exc_info=rank == 0)
        log.info(f"epoch {e.state.epoch} loss {e.state.output:.4f}"); ev.run(range(2))
    tr.run(range(30), max_epochs=10)
    log.info("training terminated by early stopping, best checkpoint kept")
if __name__ == "__main__":
    with idist.Parallel(backend="nccl") as p: p.run(training)
