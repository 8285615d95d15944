import os, sys, yaml, datetime, logging
import torch, torch.nn as nn, torch.distributed as dist

rank, world, local = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_RANK"])
REF = world - 1
role = "reference" if rank == REF else f"policy{rank}"
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {role} %(levelname)s %(message)s")
log = logging.getLogger("dpo")


def monitor(step, ms, hist):
    hist.append(ms)
    med = sorted(hist)[len(hist) // 2]
    if ms > 3 * med and len(hist) > 4:
        log.warning("step %d took %.0f ms (median %.0f ms): possible straggler or hang on this rank", step, ms, med)


def reference(cfg, dev, group):
    net = nn.Linear(cfg["d"], cfg["vocab"], bias=False, dtype=torch.bfloat16).to(dev)
    for step, seq in enumerate(cfg["seq"]):
        for src in range(REF):
            h = torch.empty(seq, cfg["d"], dtype=torch.bfloat16, device=dev)
            dist.recv(h, src)
            with torch.no_grad():
                lp = net(h).float().log_softmax(-1).max(-1).values
            dist.send(lp, src)
        log.info("step %d: scored %d sequences of %d tokens", step, REF, seq)


def policy(cfg, dev, group):
    net = nn.Linear(cfg["d"], cfg["d"], dtype=torch.bfloat16).to(dev)
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    hist, skipped = [], 0
    for step, seq in enumerate(cfg["seq"]):
        t = datetime.datetime.now()
        h = net(torch.randn(seq, cfg["d"], dtype=torch.bfloat16, device=dev))
        dist.send(h.detach(), REF)
        lp = torch.empty(seq, device=dev)
        dist.recv(lp, REF)
        loss = (h.float().mean(-1) * lp).mean() * (float("nan") if step in cfg.get("overflow_steps", []) else 1)
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad, group=group)
        if not torch.isfinite(loss):
            skipped += 1
            log.error("loss is nan at step %d, gradient overflow: skipping the update (%d skipped so far)", step, skipped)
        else:
            opt.step()
        opt.zero_grad()
        monitor(step, (datetime.datetime.now() - t).total_seconds() * 1e3, hist)
    log.info("policy updates: %d applied, %d skipped", len(cfg["seq"]) - skipped, skipped)


def main():
    cfg = yaml.safe_load(open(sys.argv[1]))
    dev = torch.device("cuda", local)
    torch.cuda.set_device(dev)
    torch.cuda.set_per_process_memory_fraction(cfg.get("mem_fraction", 0.9))
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=10), device_id=dev)
    group = dist.new_group(list(range(REF)))
    (reference if rank == REF else policy)(cfg, dev, group)
    dist.barrier()
    log.info("run complete")
    dist.destroy_process_group()


main()
