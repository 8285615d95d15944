import warnings; warnings.filterwarnings("ignore", ".*num_workers.*")
from datetime import timedelta
import torch, lightning as L
from torch import nn
from lightning.pytorch.strategies import DDPStrategy
class Seg(L.LightningModule):
    def __init__(self): super().__init__(); self.net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 5, 1))
    def training_step(self, b, i):
        loss = self.net(b[0]).square().mean(); self.log("train/loss", loss, prog_bar=True)
        return loss
    def validation_step(self, b, i):
        miou = self.net(b[0]).softmax(1).max(1).values.mean()
        if self.global_rank == 0:
            self.log("val/miou", miou, sync_dist=True, on_epoch=True)
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), 1e-3)
ds = torch.utils.data.TensorDataset(torch.randn(128, 3, 32, 32))
dl = torch.utils.data.DataLoader(ds, 8)
t = L.Trainer(accelerator="gpu", devices=2, strategy=DDPStrategy(timeout=timedelta(seconds=15)), max_epochs=3, logger=False, enable_checkpointing=False, num_sanity_val_steps=0, enable_progress_bar=False, log_every_n_steps=1)
t.fit(Seg(), dl, dl)
