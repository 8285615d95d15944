from datetime import timedelta

import lightning as L
import torch
from lightning.pytorch.strategies import DDPStrategy
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Chains(Dataset):
    def __init__(self, n, split):
        self.n, self.split = n, split
        self.lengths = [60 + 7 * (i % 20) for i in range(n)]
        if split == "val":
            self.lengths[37] = 0

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        residues = list(range(self.lengths[i]))
        first, last = residues[0], residues[-1]
        return torch.randn(64) + (last - first) / 100


class Contacts(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))

    def training_step(self, batch, i):
        loss = (self.net(batch) - batch).square().mean()
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch, i):
        self.log("val/loss", (self.net(batch) - batch).square().mean(), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 1e-3)


if __name__ == "__main__":
    L.seed_everything(11)
    t = L.Trainer(accelerator="gpu", devices=2, strategy=DDPStrategy(timeout=timedelta(seconds=25)), max_epochs=4, num_sanity_val_steps=0, enable_progress_bar=False, log_every_n_steps=10)
    t.fit(Contacts(), DataLoader(Chains(512, "train"), 16), DataLoader(Chains(80, "val"), 4))
