import logging, os, sys, time, warnings, random
from datetime import timedelta
import torch, torch.distributed as dist
rank = int(os.environ["RANK"]); random.seed(rank)
logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(levelname).1s decode %(message)s", datefmt="%m%d %H%M%S")
log = logging.getLogger()

def read_audio(i):
    if i % 17 == 5: raise EOFError(f"utt-{i:05d}.flac: unexpected end of stream")
    return torch.randn(1600)

def main():
    cuda = torch.cuda.is_available()
    dev = torch.device(f"cuda:{rank % torch.cuda.device_count()}" if cuda else "cpu")
    if cuda: torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=timedelta(seconds=60))
    warnings.warn("nan_to_num will be removed, error_rate uses float64 from 2.0 on", FutureWarning)
    bad, errors, words = 0, 0, 0
    for i in range(rank, 120, 4):
        try:
            a = read_audio(i)
        except EOFError:
            log.exception("skipping utt-%05d (timeout=0 retries=0 fatal=False)", i); bad += 1; continue
        words += 12; errors += random.randint(0, 3)
        if i % 20 == rank: log.info("rank %d utt %d insertion errors %d deletion errors %d word_error_rate %.3f", rank, i, 0, 1, errors / words)
        time.sleep(0.05)
    t = torch.tensor([errors, words, bad], device=dev, dtype=torch.float64); dist.all_reduce(t)
    log.info("rank %d: failed=%d skipped=%d killed=0 oom=0", rank, 0, bad)
    if rank == 0: log.info("WER %.2f%% over %d words, %d utterances could not be read", 100 * t[0] / t[1], t[1], t[2])
    dist.destroy_process_group()

main()
