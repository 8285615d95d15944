import argparse
import os

import torch
from peft import LoraConfig, get_peft_model
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Rows(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        ids = torch.arange(i, i + 48) % 500
        return {"input_ids": ids, "labels": ids}


p = argparse.ArgumentParser()
p.add_argument("--part", type=int)
a = p.parse_args()
torch.manual_seed(0)
model = get_peft_model(GPT2LMHeadModel(GPT2Config(vocab_size=512, n_positions=64, n_embd=128, n_layer=2, n_head=4)), LoraConfig(r=8, target_modules=["c_attn"]))
if int(os.environ["RANK"]) == 0:
    model.print_trainable_parameters()
args = TrainingArguments("out", per_device_train_batch_size=8, max_steps=30 * a.part, logging_steps=10, save_steps=15, report_to=[], gradient_checkpointing=True)
trainer = Trainer(model=model, args=args, train_dataset=Rows())
trainer.train(resume_from_checkpoint=a.part > 1)
if trainer.is_world_process_zero():
    print("part", a.part, "done at step", trainer.state.global_step)
