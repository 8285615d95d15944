from transformers import Trainer, TrainingArguments, BertConfig, BertForTokenClassification
args = TrainingArguments(output_dir="out", per_device_train_batch_size=16, num_train_epochs=3, eval_strategy="steps", eval_steps=100, save_strategy="steps", save_steps=150, load_best_model_at_end=True, report_to=[])
model = BertForTokenClassification(BertConfig(num_hidden_layers=1))
Trainer(model=model, args=args).train()
