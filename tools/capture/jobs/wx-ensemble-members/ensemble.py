import logging, os, time
from datetime import timedelta
import torch, torch.distributed as dist
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.basicConfig(level=logging.INFO, format="%(asctime)s.%(msecs)03d %(levelname)s member-group-%(thread)d %(message)s".replace("%(thread)d", str(rank)), datefmt="%Y-%m-%dT%H:%M:%S")
dev = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()); torch.cuda.set_device(dev)
dist.init_process_group("nccl", timeout=timedelta(seconds=30))
torch.manual_seed(rank)
members = torch.randn(5, 180, 360, device=dev); alive = torch.ones(5, dtype=torch.bool, device=dev)
for hour in range(0, 96, 3):
    t = time.time()
    members = members + 0.1 * torch.tanh(torch.roll(members, 1, -1) - members)
    if hour == 39 and rank == 1: members[2] = members[2] * 1e30 * 1e30
    if hour == 60 and rank == 3: time.sleep(4)
    sick = alive & ~torch.isfinite(members).flatten(1).all(1)
    for m in sick.nonzero().flatten().tolist():
        logging.error("member %d diverged at +%dh (NaN/Inf in field), taken out of the ensemble", rank * 5 + m, hour); alive[m] = False; members[m] = 0
    s = torch.stack([members[alive].sum(), alive.sum().float() * members[0].numel()]); dist.all_reduce(s)
    if hour % 12 == 0 or time.time() - t > 2:
        logging.info("+%dh ensemble mean %.5f of %d members, %.2f s%s", hour, s[0].item() / s[1].item(), int(s[1].item() / 64800), time.time() - t, " (slow step: waiting on storage or a straggling rank?)" if time.time() - t > 2 else "")
    time.sleep(0.1)
logging.info("forecast complete, %d of 5 members here survived", int(alive.sum()))
dist.destroy_process_group()
