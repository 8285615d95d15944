import torch, lightning as L
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset

class Seg(L.LightningModule):
    def __init__(self):
        super().__init__(); self.net = torch.nn.Conv2d(3, 2, 3)
    def training_step(self, batch, i):
        loss = self.net(batch[0]).square().mean(); self.log("train_loss", loss, prog_bar=True); return loss
    def validation_step(self, batch, i):
        self.log("val/dice", self.net(batch[0]).mean(), sync_dist=True)
    def configure_optimizers(self): return torch.optim.Adam(self.parameters(), 1e-3)

data = DataLoader(TensorDataset(torch.randn(96, 3, 32, 32)), 8)
L.Trainer(max_epochs=3, accelerator="gpu" if torch.cuda.is_available() else "cpu", devices=2, strategy="ddp", logger=False,
          callbacks=[ModelCheckpoint(dirpath="ck", monitor="val/miou", mode="max", save_top_k=1)]).fit(Seg(), data, data)
