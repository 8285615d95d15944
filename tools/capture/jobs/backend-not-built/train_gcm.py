import argparse, torch.distributed as dist
p = argparse.ArgumentParser(); p.add_argument("--backend"); a = p.parse_args()
print("coupling ocean and atmosphere, backend", a.backend, flush=True)
dist.init_process_group(a.backend)
print("rank", dist.get_rank(), flush=True)
