import torch, lightning as L
from torch import nn
class SimCLR(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Flatten(), nn.Linear(1024, 128), nn.ReLU())
        self.proj = nn.Linear(128, 64); self.probe = nn.Linear(128, 10)
    def training_step(self, b, i):
        h = self.enc(b); loss = self.proj(h).square().mean()
        if i < 6: loss = loss + self.probe(h).square().mean()
        self.log("train/loss", loss, prog_bar=True)
        return loss
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), 0.1)
if __name__ == "__main__":
    L.seed_everything(11)
    t = L.Trainer(accelerator="gpu", devices=2, strategy="ddp", max_epochs=2, log_every_n_steps=2, logger=False, enable_checkpointing=False)
    t.fit(SimCLR(), torch.utils.data.DataLoader(torch.randn(320, 1, 32, 32), 16))
    print("fit finished")
