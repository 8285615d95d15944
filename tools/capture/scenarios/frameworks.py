"""The same under a trainer library: transformers' Trainer, Lightning."""

from __future__ import annotations

import os

import torch
from torch.utils.data import Dataset

from scenarios import scenario
from scenarios.common import RANK, SCRATCH


class Tokens(Dataset[dict[str, torch.Tensor]]):
    """Token rows; one of them may be out of the vocabulary or unreadable."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def __len__(self) -> int:
        return 96

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        if self.fault == "unreadable" and index == 40:
            raise UnicodeDecodeError("utf-8", b"\xff\xfe", 0, 1, "invalid start byte")
        tokens = torch.randint(0, 256, (32,))
        if self.fault == "vocabulary" and index == 40:
            tokens[3] = 300
        return {"input_ids": tokens, "labels": tokens}


def _trainer(fault: str) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    config = GPT2Config(vocab_size=256, n_positions=32, n_embd=64, n_layer=2, n_head=2)
    arguments = TrainingArguments(
        output_dir=f"{SCRATCH}/hf",
        per_device_train_batch_size=4,
        max_steps=20,
        logging_steps=5,
        save_steps=10,
        report_to=[],
        ddp_timeout=20,
        dataloader_num_workers=1,
    )
    trainer = Trainer(model=GPT2LMHeadModel(config), args=arguments, train_dataset=Tokens(fault))
    trainer.train()


@scenario("hf-trainer-ok")
def hf_trainer_ok() -> None:
    """A short Trainer run that ends well, with progress bars: healthy."""
    _trainer("")


@scenario("hf-trainer-unreadable")
def hf_trainer_unreadable() -> None:
    """One sample cannot be decoded; the worker's exception reaches the rank that drew it: data-loading."""
    _trainer("unreadable")


@scenario("hf-trainer-vocabulary")
def hf_trainer_vocabulary() -> None:
    """A token id is beyond the vocabulary; the embedding kernel asserts on the rank that drew it: cuda-
    kernel."""
    _trainer("vocabulary")


def _fit(fault: bool) -> None:
    import pytorch_lightning as pl
    from torch.utils.data import DataLoader

    class Module(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(32, 2)

        def training_step(self, inputs: torch.Tensor, index: int) -> torch.Tensor:
            if fault and self.global_rank == 1 and index == 5:
                raise RuntimeError("annotation file lists 81 classes, model has 80")
            loss = self.layer(inputs).sum()
            self.log("train_loss", loss)
            return loss

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.SGD(self.parameters(), lr=1e-3)

    trainer = pl.Trainer(
        accelerator="gpu" if torch.cuda.is_available() else "cpu",
        devices=int(os.environ.get("CAPTURE_DEVICES", "2")),
        strategy="ddp",
        max_epochs=1,
        default_root_dir=SCRATCH,
        logger=False,
    )
    trainer.fit(Module(), DataLoader(torch.randn(64, 32), batch_size=2))
    print(f"rank {RANK}: fit ended", flush=True)


@scenario("pl-exception")
def pl_exception() -> None:
    """Rank 1 raises in training_step under Lightning's own launcher: user code, rank 1."""
    _fit(True)
