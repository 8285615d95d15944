from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

vocab = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3, **{f"w{i}": i + 4 for i in range(500)}}
t = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
t.pre_tokenizer = pre_tokenizers.Whitespace()
tok = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>")
data = Dataset.from_list([{"text": " ".join(f"w{(i * k) % 500}" for k in range(1, 80))} for i in range(400)])
model = LlamaForCausalLM(LlamaConfig(vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2))
cfg = SFTConfig("out", max_length=64, per_device_train_batch_size=4, max_steps=40, logging_steps=10, save_steps=20, report_to=[], learning_rate=1e-3)
trainer = SFTTrainer(model=model, args=cfg, train_dataset=data, processing_class=tok)
trainer.train()
trainer.save_model("out/final")
print("saved out/final")
