import os, sys, signal, threading, time, queue, logging, datetime
import torch, torch.nn as nn, torch.distributed as dist

rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format=f"%(levelname).1s%(asctime)s rank{rank} %(threadName)s] %(message)s", datefmt="%m%d %H:%M:%S")


class AsyncSaver(threading.Thread):
    def __init__(self, root):
        super().__init__(daemon=True, name="ckpt-writer")
        self.root, self.q, self.last = root, queue.Queue(), None
        self.start()

    def run(self):
        while True:
            step, state = self.q.get()
            try:
                tmp = os.path.join(self.root, f"step{step}.pt.tmp")
                torch.save(state, tmp)
                os.rename(tmp, tmp[:-4])
                self.last = step
                logging.info("checkpoint %d committed", step)
            except Exception as e:
                logging.warning("checkpoint %d not written: %r", step, e)


def main(root, steps):
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: (logging.warning("SIGTERM received, will stop after this step"), stop.set()))
    cuda = torch.cuda.is_available()
    dev = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(dev)
    dist.init_process_group("nccl" if cuda else "gloo", timeout=datetime.timedelta(seconds=15))
    net = nn.Linear(256, 256).to(dev)
    saver = AsyncSaver(root) if rank == 0 else None
    for step in range(1, steps + 1):
        net(torch.randn(8, 256, device=dev)).sum().backward()
        flag = torch.tensor([float(stop.is_set())], device=dev)
        dist.all_reduce(flag)
        dist.all_reduce(net.weight.grad)
        if flag.item():
            logging.warning("stopping at step %d of %d on request", step, steps)
            break
        if step % 20 == 0:
            logging.info("step %d", step)
            if saver:
                saver.q.put((step, {k: v.cpu() for k, v in net.state_dict().items()}))
        time.sleep(0.05)
    dist.barrier()
    if saver:
        time.sleep(1)
        logging.info("last committed checkpoint: %s", saver.last)
        if saver.last is None:
            logging.error("no checkpoint was committed during this run")
            dist.destroy_process_group()
            sys.exit(4)
    dist.destroy_process_group()


main(sys.argv[1], int(sys.argv[2]))
