import os, sys, time

import lightning as L
import torch
from torch.utils.data import DataLoader, Dataset

RECIPE = os.environ.get("RECIPE", "")


class Series(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        x = torch.randn(32, generator=g)
        return x, x.sum()


class Forecaster(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(32, 128), torch.nn.Tanh(), torch.nn.Linear(128, 1))
        self.extra = torch.nn.Linear(128, 1)

    def training_step(self, batch, i):
        x, y = batch
        h = self.net[1](self.net[0](x))
        out = self.net[2](h).squeeze(-1)
        if RECIPE == "two-heads" and self.current_epoch >= 1:
            if self.global_rank != 2:
                out = out + self.extra(h).squeeze(-1)
        loss = torch.nn.functional.mse_loss(out, y)
        if RECIPE == "rank-zero-log" and self.trainer.is_global_zero and i == 20:
            self.log("probe", loss, sync_dist=True)
        elif i % 20 == 0:
            self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, i):
        x, y = batch
        if RECIPE == "plain-val" and self.global_rank == 1 and self.current_epoch == 2:
            y = y.view(-1, 2, 8)[0]
        self.log("val_loss", torch.nn.functional.mse_loss(self.net(x).squeeze(-1), y), sync_dist=True)

    def configure_optimizers(self):
        if RECIPE == "schedule":
            o = torch.optim.Adam(self.parameters(), 1e-3)
            return {"optimizer": o, "lr_scheduler": {"scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau(o)}}
        return torch.optim.Adam(self.parameters(), 1e-3)


def main():
    strategy = L.pytorch.strategies.DDPStrategy(timeout=__import__("datetime").timedelta(seconds=25), find_unused_parameters=RECIPE != "two-heads")
    t = L.Trainer(accelerator="gpu", devices=1, num_nodes=3, strategy=strategy, max_epochs=5, enable_progress_bar=os.environ.get("BAR") == "1", logger=False, log_every_n_steps=5,
                  callbacks=[L.pytorch.callbacks.ModelCheckpoint("ckpt", monitor="val_loss")])
    t.fit(Forecaster(), DataLoader(Series(2048), 16, num_workers=2, shuffle=True), DataLoader(Series(256), 16))
    print("best", t.checkpoint_callback.best_model_path)


if __name__ == "__main__":
    main()
