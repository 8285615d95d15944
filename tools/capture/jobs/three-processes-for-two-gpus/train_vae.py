import sys, math, torch, torch.nn as nn
from accelerate import Accelerator
from accelerate.logging import get_logger
import logging
logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = get_logger(__name__, log_level="INFO")


def check_finite(loss, step):
    if not math.isfinite(loss):
        raise FloatingPointError(f"non-finite loss {loss} at step {step}")


def main():
    acc = Accelerator(mixed_precision="fp16" if torch.cuda.is_available() else "no")
    logger.info("state: %s", str(acc.state).replace("\n", " | "), main_process_only=False)
    torch.manual_seed(0)
    x = torch.load(sys.argv[1], weights_only=True)
    dl = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=16)
    enc = nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 32))
    opt = torch.optim.Adam(enc.parameters(), 1e-3)
    enc, opt, dl = acc.prepare(enc, opt, dl)
    for step, (b,) in enumerate(dl):
        with acc.accumulate(enc):
            loss = (enc(b) - b).pow(2).mean()
            check_finite(loss.item(), step)
            acc.backward(loss)
            opt.step(); opt.zero_grad()
        if step % 4 == 0:
            logger.info("step %d rank %d loss %.4f max|x| %.3g", step, acc.process_index, loss.item(), b.abs().max().item(), main_process_only=False)
    acc.wait_for_everyone()
    logger.info("finished")


main()
