import json, os, torch
from safetensors.torch import save_file
os.makedirs("qwen-14b", exist_ok=True)
m = {}
for k in range(1, 5):
    f = f"model-{k:05d}-of-00004.safetensors"
    for l in range(3): m[f"layers.{(k - 1) * 3 + l}.mlp.weight"] = f
    if k != 3: save_file({f"layers.{(k - 1) * 3 + l}.mlp.weight": torch.randn(64, 64) for l in range(3)}, f"qwen-14b/{f}")
json.dump({"weight_map": m}, open("qwen-14b/model.safetensors.index.json", "w"))
