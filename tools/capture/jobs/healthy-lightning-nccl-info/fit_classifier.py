import torch, lightning as L, warnings
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
class Net(L.LightningModule):
    def __init__(self): super().__init__(); self.l = torch.nn.Linear(64, 5); self.unused = torch.nn.Linear(4, 4)
    def training_step(self, b, i):
        loss = torch.nn.functional.cross_entropy(self.l(b[0]), b[1])
        self.log("train/loss", loss, prog_bar=True)
        return loss
    def validation_step(self, b, i): self.log("val/acc", (self.l(b[0]).argmax(-1) == b[1]).float().mean())
    def configure_optimizers(self): return torch.optim.Adam(self.parameters(), 1e-2)
if __name__ == "__main__":
    L.seed_everything(5); x = torch.randn(400, 64); y = x[:, :5].argmax(1); d = torch.utils.data.TensorDataset(x, y)
    t = L.Trainer(accelerator="gpu", devices=2, strategy="ddp_find_unused_parameters_true", max_epochs=3, log_every_n_steps=100, logger=False, callbacks=[ModelCheckpoint("ck", monitor="val/acc", mode="max"), EarlyStopping("val/acc", mode="max")])
    t.fit(Net(), torch.utils.data.DataLoader(d, 16), torch.utils.data.DataLoader(d, 16))
