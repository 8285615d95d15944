import sys, torch, logging
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

logging.basicConfig(level=logging.INFO)
logger = logging.getLogger(__name__)


class PackedChats(Dataset):
    def __init__(self, path, limit=None):
        self.data = torch.load(path, weights_only=True)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return {"input_ids": self.data[i], "labels": self.data[i].clone(), "attention_mask": torch.ones_like(self.data[i])}


def main():
    set_seed(1)
    path, out, lr = sys.argv[1], sys.argv[2], float(sys.argv[3])
    cfg = GPT2Config(vocab_size=1000, n_positions=64, n_embd=64, n_layer=2, n_head=2)
    model = GPT2LMHeadModel(cfg)
    args = TrainingArguments(out, per_device_train_batch_size=4, max_steps=30, logging_steps=5, save_steps=15, learning_rate=lr, report_to=[], gradient_checkpointing=True, ddp_find_unused_parameters=True, dataloader_num_workers=1, max_grad_norm=1.0)
    ds = PackedChats(path)
    logger.info("%d packed sequences, vocab %d", len(ds), cfg.vocab_size)
    tr = Trainer(model=model, args=args, train_dataset=ds)
    tr.train()
    tr.save_model()
    logger.info("done")


main()
