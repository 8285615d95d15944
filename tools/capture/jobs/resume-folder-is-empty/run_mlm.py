import argparse, os, torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
p = argparse.ArgumentParser(); p.add_argument("--resume"); a = p.parse_args()
class D(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return {"input_ids": torch.arange(8), "labels": torch.tensor(i % 2)}
model = BertForSequenceClassification(BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64))
os.makedirs(a.resume, exist_ok=True)
t = Trainer(model, TrainingArguments("out", max_steps=20, per_device_train_batch_size=4, report_to=[], save_strategy="no", logging_steps=5), train_dataset=D())
t.train(resume_from_checkpoint=a.resume)
