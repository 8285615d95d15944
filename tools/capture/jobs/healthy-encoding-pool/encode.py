import argparse
import logging

import torch
from sentence_transformers import SentenceTransformer, models
from tokenizers import Tokenizer, models as tm, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

logging.basicConfig(format="%(asctime)s - %(message)s", level=logging.INFO)


def build(folder):
    t = Tokenizer(tm.WordLevel({"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, **{f"w{i}": i + 5 for i in range(400)}}, unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=t, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]", model_max_length=64).save_pretrained(folder)
    BertModel(BertConfig(vocab_size=512, hidden_size=64, num_hidden_layers=1, num_attention_heads=2, intermediate_size=128)).save_pretrained(folder)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--lists", type=int)
    args = p.parse_args()
    build("mini-bert")
    model = SentenceTransformer("mini-bert")
    sentences = [" ".join(f"w{(i * k) % 400}" for k in range(1, 20)) for i in range(6000)]
    pool = model.start_multi_process_pool(["cuda:0", "cuda:1"])
    for n in range(args.lists):
        emb = model.encode(sentences, pool=pool, batch_size=64)
        print(f"list {n}: {emb.shape} mean norm {float((emb ** 2).sum(1).mean()):.3f}")
    model.stop_multi_process_pool(pool)
    print("all lists encoded")
