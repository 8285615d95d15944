import os

import torch
from datasets import Dataset
from transformers import DataCollatorForLanguageModeling, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Trainer, TrainingArguments
from tokenizers import Tokenizer, models, pre_tokenizers


def tokenizer():
    vocab = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3, **{f"w{i}": i + 4 for i in range(500)}}
    t = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=t, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def rows(n):
    for i in range(n):
        yield {"prompt": f"w{i % 400} w{(i * 7) % 400}", "answer": " ".join(f"w{(i * k) % 400}" for k in range(1, 20))}


def main():
    tok = tokenizer()
    data = Dataset.from_list(list(rows(640)))

    def encode(example):
        return tok(example["prompt"] + " " + example["answer"], truncation=True, max_length=64)

    data = data.map(encode, remove_columns=["prompt", "answer"])
    rank = int(os.environ["RANK"])

    class Collator(DataCollatorForLanguageModeling):
        calls = 0

        def __call__(self, features, return_tensors=None):
            Collator.calls += 1
            if rank == 1 and Collator.calls == 33:
                features[2]["input_ids"] = [features[2]["input_ids"]]
            return super().__call__(features, return_tensors)

    args = TrainingArguments("out", per_device_train_batch_size=4, max_steps=80, logging_steps=10, report_to=[], save_strategy="no", ddp_timeout=20, learning_rate=1e-3)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4))
    Trainer(model=model, args=args, train_dataset=data, data_collator=Collator(tok, mlm=False)).train()


main()
