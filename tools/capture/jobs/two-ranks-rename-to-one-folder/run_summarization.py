import argparse, os, time
from datetime import timedelta
import torch, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--output_dir"); p.add_argument("--save_steps", type=int); a = p.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=20))
rank = dist.get_rank()
def save(step):
    # save_on_each_node is set, the output folder is shared
    tmp, final = f"{a.output_dir}/tmp-checkpoint-{step}-{rank}", f"{a.output_dir}/checkpoint-{step}"
    os.makedirs(tmp, exist_ok=True)
    torch.save({"step": step}, f"{tmp}/trainer_state.pt")
    time.sleep(0.3 * rank)
    os.rename(tmp, final)
    print(f"Saving model checkpoint to {final}", flush=True)
for step in range(1, 61):
    t = torch.rand(8); dist.all_reduce(t)
    if step % 5 == 0: print({"loss": round(3 - step * 0.01, 4), "learning_rate": 5e-5, "epoch": step / 60}, flush=True)
    if step % a.save_steps == 0: save(step)
    time.sleep(0.05)
dist.destroy_process_group()
