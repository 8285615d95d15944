import json
import os

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments


class Tokens(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, i):
        ids = torch.randint(0, 1000, (64,))
        return {"input_ids": ids, "labels": ids}


class JsonlLogger(TrainerCallback):
    def __init__(self, path):
        self.path = path
        self.window = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        if not state.is_world_process_zero:
            return
        if "loss" in logs:
            self.window.append(logs["loss"])
        if state.global_step >= 60:
            logs = {**logs, "loss_smooth": np.float32(np.mean(self.window[-10:]))}
        with open(self.path, "a") as f:
            f.write(json.dumps({"step": state.global_step, **logs}) + "\n")


def main():
    model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=64, n_embd=128, n_layer=2, n_head=2))
    args = TrainingArguments("out", max_steps=200, per_device_train_batch_size=8, logging_steps=10, save_steps=50, report_to=[],
                             ddp_timeout=25, dataloader_num_workers=1)
    trainer = Trainer(model, args, train_dataset=Tokens(), callbacks=[JsonlLogger("metrics.jsonl")])
    trainer.train()


if __name__ == "__main__":
    main()
