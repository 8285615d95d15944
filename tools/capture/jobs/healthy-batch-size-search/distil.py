import logging, time, torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm
logging.basicConfig(format="%(asctime)s - %(levelname)s - %(message)s", level=logging.INFO)

def main():
    acc = Accelerator()
    @find_executable_batch_size(starting_batch_size=256)
    def inner(batch_size):
        acc.free_memory()
        acc.print(f"trying batch size {batch_size}")
        if batch_size > 64: torch.empty(batch_size << 32, device=acc.device)
        net = torch.nn.Linear(80, 80); opt = torch.optim.AdamW(net.parameters(), 1e-3)
        data = DataLoader(TensorDataset(torch.randn(8000, 80)), batch_size=batch_size)
        net, opt, data = acc.prepare(net, opt, data)
        for step, (x,) in enumerate(tqdm(data, disable=not acc.is_local_main_process)):
            loss = net(x).square().mean()
            if step in (5, 6): loss = loss * float("inf")
            acc.backward(loss); opt.step()
            if acc.optimizer_step_was_skipped: logging.warning("gradient overflow, step %d skipped, scale %s", step, acc.scaler.get_scale())
            opt.zero_grad(); time.sleep(0.02)
        acc.print(f"final loss {loss.item():.4f}")
    inner()
    acc.wait_for_everyone(); acc.save_state("final")
    logging.info("done")

main()
