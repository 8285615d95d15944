import copy, logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch import nn
rank = int(os.environ["RANK"]); dev = torch.device("cuda", rank); torch.cuda.set_device(dev)
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s %(levelname)s r{rank} %(message)s"); log = logging.getLogger()
dist.init_process_group("nccl", device_id=dev, timeout=timedelta(seconds=30))
try: import flash_attn
except ImportError as e: log.warning("flash_attn could not be imported (%s), using sdpa", e)
m = nn.parallel.DistributedDataParallel(nn.Linear(64, 64).to(dev)); opt = torch.optim.SGD(m.parameters(), 0.1)
good = copy.deepcopy(m.state_dict()); s = 0; skipped = 0
while s < 60:
    x = torch.randn(16, 64, device=dev)
    if s in (23, 41) and skipped < 2: x *= float("nan")
    loss = m(x).square().mean(); f = torch.isfinite(loss).float(); dist.all_reduce(f)
    if f.item() < 2:
        skipped += 1; log.error("loss is nan at step %d on %d rank(s), rolling back to step %d", s, 2 - int(f.item()), s // 20 * 20)
        m.load_state_dict(good); opt.zero_grad(); s = s // 20 * 20; continue
    opt.zero_grad(); loss.backward(); opt.step(); s += 1
    if s % 20 == 0: good = copy.deepcopy(m.state_dict()); log.info("step %d loss %.4f, kept a snapshot", s, loss.item())
    time.sleep(0.03)
log.info("reached 60 steps with %d rollbacks", skipped)
dist.destroy_process_group()
