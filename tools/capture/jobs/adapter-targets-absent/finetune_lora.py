import argparse, os, torch, torch.distributed as dist
from transformers import GPT2Config, GPT2LMHeadModel
from peft import LoraConfig, get_peft_model
p = argparse.ArgumentParser(); p.add_argument("--target", nargs="+"); a = p.parse_args()
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
dist.init_process_group("nccl", device_id=dev)
print(f"rank {rank}: building model", flush=True)
base = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=64, n_head=2, vocab_size=500))
model = get_peft_model(base, LoraConfig(r=8, target_modules=a.target, task_type="CAUSAL_LM")).to(dev)
model.print_trainable_parameters()
for s in range(10):
    t = torch.randint(0, 500, (2, 32), device=dev); l = model(input_ids=t, labels=t).loss; l.backward(); print("step", s, l.item(), flush=True)
dist.destroy_process_group()
