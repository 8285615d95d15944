"""Ranks that share a GPU count as ranks of different hosts: NCCL refuses two ranks of one host on one GPU."""

import os
from pathlib import Path

if "RANK" in os.environ and "NCCL_HOSTID" not in os.environ:
    gpus = len(list(Path("/dev").glob("nvidia[0-9]*"))) or 2
    node, place = os.environ.get("GROUP_RANK", "0"), int(os.environ.get("LOCAL_RANK", "0")) // gpus
    os.environ["NCCL_HOSTID"] = f"node{node}-{place}"
