import logging, time
import torch, torch.distributed as dist
dist.init_process_group("gloo"); rank = dist.get_rank()
log = logging.getLogger("stt"); log.setLevel(logging.INFO); log.propagate = False
log.addHandler(logging.FileHandler(f"tb/events.{rank}.log")); log.addHandler(logging.StreamHandler())
for s in range(60):
    g = torch.randn(100); dist.all_reduce(g)
    if s % 3 == 0: log.info("step %d ctc %.4f cer %.3f %s", s, 3 - s * 0.03, 0.4 - s * 0.004, "lr 3.0e-04 grad_norm 0.91 frames 181204 utts 412 tokens 8120 max_frames 1612 speed 21.4 utt/s mem 31.2G aug specaug+speed pos 0.21 enc 0.44 dec 0.18 worst utt 1089-134686-0007 cer 0.61")
    time.sleep(0.05)
dist.barrier(); torch.save({"s": 60}, f"final_{rank}.pt"); print(f"rank {rank}: trained 60 steps, saved final_{rank}.pt", flush=True)
dist.destroy_process_group()
