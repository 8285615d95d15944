import logging
import time

import requests
import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from accelerate.utils import set_seed
from peft import LoraConfig, get_peft_model
from requests.adapters import HTTPAdapter
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM
from urllib3.util.retry import Retry

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s")
log = get_logger(__name__)
acc = Accelerator(gradient_accumulation_steps=2)
set_seed(1)
session = requests.Session()
session.mount("http://", HTTPAdapter(max_retries=Retry(total=12, backoff_factor=0.4, backoff_max=4, allowed_methods=None)))


def track(**values):
    if acc.is_main_process:
        try:
            session.post("http://127.0.0.1:8777/metrics", json=values, timeout=2)
        except requests.RequestException as e:
            log.warning("metrics dropped: %s", e)


base = LlamaForCausalLM(LlamaConfig(vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2))
model = get_peft_model(base, LoraConfig(r=8, target_modules=["q_proj", "v_proj"]))
if acc.is_main_process:
    model.print_trainable_parameters()
opt = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), 1e-3)
loader = DataLoader(torch.randint(0, 512, (640, 64)), 8, shuffle=True)
model, opt, loader = acc.prepare(model, opt, loader)
step = 0
for epoch in range(2):
    for ids in loader:
        with acc.accumulate(model):
            loss = model(input_ids=ids, labels=ids).loss
            acc.backward(loss)
            opt.step()
            opt.zero_grad()
        step += 1
        if step % 10 == 0:
            log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
            track(step=step, loss=loss.item())
        time.sleep(0.02)
acc.wait_for_everyone()
acc.unwrap_model(model).save_pretrained("adapter", is_main_process=acc.is_main_process)
log.info("adapter saved")
acc.end_training()
