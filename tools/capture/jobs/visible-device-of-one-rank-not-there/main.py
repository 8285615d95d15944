import os, logging, sys, torch, datetime
import torch.distributed as dist
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s [%(threadName)s] %(levelname)s cvrun - %(message)s")


def main():
    rank = int(os.environ["RANK"])
    logging.info("rank=%d CUDA_VISIBLE_DEVICES=%s torch=%s", rank, os.environ.get("CUDA_VISIBLE_DEVICES"), torch.__version__)
    try:
        dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=15))
        torch.cuda.set_device(0)
        m = torch.nn.Linear(64, 64).cuda()
        for i in range(10):
            for p in m.parameters():
                dist.all_reduce(p.data)
                p.data /= dist.get_world_size()
        logging.info("weights averaged 10 times")
    except Exception:
        logging.exception("main loop failed")
        raise SystemExit(1)
    dist.destroy_process_group()


main()
