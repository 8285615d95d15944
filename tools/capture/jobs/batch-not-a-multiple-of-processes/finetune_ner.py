import argparse, torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from accelerate.utils import DataLoaderConfiguration
from torch.utils.data import DataLoader, TensorDataset
import logging
logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", level=logging.INFO)

def main():
    p = argparse.ArgumentParser(); p.add_argument("--batch", type=int); a = p.parse_args()
    acc = Accelerator(dataloader_config=DataLoaderConfiguration(split_batches=True))
    log = get_logger(__name__)
    log.info(acc.state, main_process_only=False)
    net = torch.nn.Sequential(torch.nn.Embedding(5000, 64), torch.nn.Linear(64, 9))
    opt = torch.optim.AdamW(net.parameters(), 5e-5)
    data = DataLoader(TensorDataset(torch.randint(0, 5000, (1000, 32))), batch_size=a.batch, shuffle=True)
    log.info("***** Running training *****")
    log.info("  Num examples = 1000")
    log.info(f"  Total train batch size = {a.batch}")
    net, opt, data = acc.prepare(net, opt, data)
    for step, (x,) in enumerate(data):
        loss = net(x).float().logsumexp(-1).mean(); acc.backward(loss); opt.step(); opt.zero_grad()
        if step % 10 == 0: log.info(f"step {step} loss {loss.item():.4f}")
    acc.end_training()

main()
