import os, torch
os.makedirs("ckpt", exist_ok=True)
for r in range(4):
    g = torch.Generator().manual_seed(r)
    torch.save({"step": 4000, "weight": torch.randn(1024, 1024, generator=g), "exp_avg": torch.zeros(1024, 1024), "exp_avg_sq": torch.zeros(1024, 1024)}, f"ckpt/step4000-part{r}of4.pt")
