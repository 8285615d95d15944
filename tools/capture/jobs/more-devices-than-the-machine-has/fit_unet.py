import argparse, torch, lightning as L
p = argparse.ArgumentParser(); p.add_argument("--devices", type=int); a = p.parse_args()
class Net(L.LightningModule):
    def __init__(self): super().__init__(); self.c = torch.nn.Conv2d(1, 1, 3, padding=1)
    def training_step(self, b, i): return self.c(b).square().mean()
    def configure_optimizers(self): return torch.optim.Adam(self.parameters())
L.seed_everything(3)
t = L.Trainer(accelerator="gpu", devices=a.devices, strategy="ddp", max_epochs=2)
t.fit(Net(), torch.utils.data.DataLoader(torch.randn(64, 1, 32, 32), 8))
