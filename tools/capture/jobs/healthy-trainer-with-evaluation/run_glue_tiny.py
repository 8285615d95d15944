import torch
from transformers import BertConfig, BertForSequenceClassification, EarlyStoppingCallback, Trainer, TrainingArguments


class Pairs(torch.utils.data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        ids = torch.randint(0, 500, (48,), generator=g)
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": int(ids.sum()) % 2}


def metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


if __name__ == "__main__":
    model = BertForSequenceClassification(BertConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128))
    args = TrainingArguments("out", max_steps=120, per_device_train_batch_size=8, logging_steps=20, eval_strategy="steps", eval_steps=40, save_steps=40, save_total_limit=1,
                             load_best_model_at_end=True, metric_for_best_model="accuracy", report_to=[], dataloader_num_workers=2, ddp_find_unused_parameters=True, bf16=True)
    t = Trainer(model, args, train_dataset=Pairs(2000), eval_dataset=Pairs(160), compute_metrics=metrics, callbacks=[EarlyStoppingCallback(5)])
    r = t.train()
    t.log_metrics("train", r.metrics)
    t.save_model("out/final")
