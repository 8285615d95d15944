import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader, IterableDataset
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])
LOCAL = int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", LOCAL % torch.cuda.device_count())

torch.cuda.set_device(device)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))

t = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1, **{f"w{i}": i + 2 for i in range(500)}}, unk_token="[UNK]"))
t.pre_tokenizer = pre_tokenizers.Whitespace()
tok = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="[PAD]", unk_token="[UNK]", model_max_length=64)
print("example", tok(["w1 w2 w3", "w4 w5"], padding=True)["input_ids"], flush=True)


class Lines(IterableDataset):
    def __len__(self):
        return 200

    def __iter__(self):
        for i in range(240):
            yield " ".join(f"w{(i * k) % 500}" for k in range(1, 90 if i == 77 else 50))


def collate(lines):
    return tok(lines, padding=True, return_tensors="pt")


model = nn.parallel.DistributedDataParallel(BertForMaskedLM(BertConfig(vocab_size=512, hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=256)).to(device), find_unused_parameters=True)
opt = torch.optim.AdamW(model.parameters(), 1e-4)
for epoch in range(2):
    for step, b in enumerate(DataLoader(Lines(), batch_size=8, num_workers=1, collate_fn=collate)):
        b = b.to(device)
        loss = model(**b, labels=b["input_ids"]).loss
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
print(f"rank {RANK} ended normally", flush=True)
dist.destroy_process_group()
