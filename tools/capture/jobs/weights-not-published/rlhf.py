import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

import logging

RANK = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger()


def publish(store, version, weights):
    try:
        os.makedirs("shared/weights", exist_ok=True)
        torch.save(weights, f"shared/weights/v{version}.pt")
        store.set(f"weights/v{version}", "ready")
        log.info("published weights v%d", version)
    except OSError as e:
        log.warning("weights v%d not published: %s", version, e)


def trainer(store):
    w = torch.randn(64, 64)
    for version in range(1, 6):
        for _ in range(20):
            w -= 0.01 * w
            time.sleep(0.1)
        log.info("trainer: iteration %d, reward %.3f", version, w.norm())
        publish(store, version, w)
    dist.barrier()


def rollout(store):
    for version in range(1, 6):
        log.info("waiting for weights v%d", version)
        store.wait([f"weights/v{version}"], timedelta(seconds=12))
        w = torch.load(f"shared/weights/v{version}.pt")
        log.info("rollout with v%d: %d samples", version, w.numel())
    dist.barrier()


def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=30))
    store = dist.PrefixStore("rlhf", dist.distributed_c10d._get_default_store())
    trainer(store) if RANK == 0 else rollout(store)
    dist.destroy_process_group()


main()
