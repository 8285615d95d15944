import argparse, json, math, os, random, sys

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, TrainerCallback

p = argparse.ArgumentParser()
p.add_argument("--data", default="train.jsonl")
p.add_argument("--stream", action="store_true")
p.add_argument("--eval", action="store_true")
p.add_argument("--resume")
p.add_argument("--save-steps", type=int, default=0)
p.add_argument("--hook", default="")
p.add_argument("--steps", type=int, default=60)
args = p.parse_args()
RANK = int(os.environ["RANK"])


class Lines(Dataset):
    def __init__(self, path):
        self.rows = [json.loads(x) for x in open(path)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids = torch.tensor(self.rows[i]["ids"])
        return {"input_ids": ids, "labels": ids.clone()}


class Streamed(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as f:
            for k, line in enumerate(f):
                if k % int(os.environ["WORLD_SIZE"]) == RANK:
                    row = json.loads(line)
                    yield {"input_ids": torch.tensor(row["ids"]), "labels": torch.tensor(row["ids"])}


class Upload(TrainerCallback):
    """Copies what rank 0 saved to the shared volume."""

    def on_step_end(self, a, state, control, **kw):
        if args.hook == "stop" and RANK == 2 and state.global_step == 21:
            control.should_training_stop = True
        return control

    def on_save(self, a, state, control, **kw):
        if args.hook == "upload" and RANK == 0:
            import shutil
            shutil.copytree(os.path.join(a.output_dir, f"checkpoint-{state.global_step}"), f"/mnt/share/run/checkpoint-{state.global_step}")


def metrics(pred):
    logits, labels = pred
    guess = logits.argmax(-1)
    per = {str(k): float((guess[labels == k] == k).mean()) for k in range(3)}
    if RANK == 1 and args.hook == "plot":
        import matplotlib.pyplot_helper as h
        h.save(per)
    return per


cfg = GPT2Config(vocab_size=512, n_positions=128, n_embd=128, n_layer=2, n_head=4)
model = GPT2LMHeadModel(cfg)
data = Streamed(args.data) if args.stream else Lines(args.data)
ta = TrainingArguments(
    output_dir="out", per_device_train_batch_size=8, per_device_eval_batch_size=8, max_steps=args.steps, logging_steps=10, report_to=[],
    save_strategy="steps" if args.save_steps else "no", save_steps=args.save_steps or 500, eval_strategy="steps" if args.eval else "no", eval_steps=20,
    dataloader_num_workers=2, ddp_timeout=25, accelerator_config={"dispatch_batches": False, "split_batches": False})
t = Trainer(model=model, args=ta, train_dataset=data, eval_dataset=Lines("eval.jsonl") if args.eval else None, compute_metrics=metrics if args.eval else None, callbacks=[Upload()])
r = t.train(resume_from_checkpoint=args.resume)
if RANK == 0:
    print(r.metrics)
