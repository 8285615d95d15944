import torch, transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer, TrainingArguments
tk = Tokenizer(models.WordLevel({"[PAD]": 0, "[UNK]": 1, **{f"w{i}": i + 2 for i in range(98)}}, unk_token="[UNK]")); tk.pre_tokenizer = pre_tokenizers.Whitespace()
tok = PreTrainedTokenizerFast(tokenizer_object=tk, pad_token="[PAD]", unk_token="[UNK]")
class Notes(torch.utils.data.Dataset):
    def __len__(self): return 256
    def __getitem__(self, i):
        text = " ".join(f"w{(i * 7 + k) % 98}" for k in range(5 + i % 20))
        d = dict(tok(text)); d["labels"] = i % 3
        if i == 133: d["labels"] = [i % 3, 1]
        return d
model = BertForSequenceClassification(BertConfig(vocab_size=100, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128, num_labels=3))
args = TrainingArguments("out", per_device_train_batch_size=8, max_steps=60, logging_steps=5, report_to=[], save_strategy="no", disable_tqdm=False)
Trainer(model, args, train_dataset=Notes(), data_collator=DataCollatorWithPadding(tok)).train()
