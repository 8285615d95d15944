import lightning as L
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class UNet3D(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv3d(8, 2, 1))

    def training_step(self, batch, i):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, i):
        x, y = batch
        self.log("val_loss", nn.functional.cross_entropy(self.net(x), y))

    def on_validation_epoch_end(self):
        print(f"[{self.global_rank}] val loss {self.trainer.callback_metrics['val_loss'].item():.4f}")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), self.hparams.lr)


def data(n):
    return DataLoader(TensorDataset(torch.randn(n, 1, 16, 16, 16), torch.randint(0, 2, (n, 16, 16, 16))), 4)


if __name__ == "__main__":
    t = L.Trainer(accelerator="gpu", devices=2, strategy="ddp_find_unused_parameters_true", precision="16-mixed", max_epochs=2, enable_progress_bar=False, logger=CSVLogger("logs_csv"),
                  callbacks=[ModelCheckpoint("ck", monitor="val_loss"), LearningRateMonitor()])
    t.fit(UNet3D(), data(120), data(24))
    print("best", t.checkpoint_callback.best_model_score)
