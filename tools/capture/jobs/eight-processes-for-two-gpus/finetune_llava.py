import argparse, torch, deepspeed
p = argparse.ArgumentParser(); p.add_argument("--local_rank", type=int); p.add_argument("--bits")
a = p.parse_args()
torch.cuda.set_device(a.local_rank)
deepspeed.init_distributed()
print("rank", torch.distributed.get_rank())
