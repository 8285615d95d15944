"""What the node epilogs collected, as sources: kernel logs and GPU states, labelled with their node."""

from __future__ import annotations

import os
import re
import stat
from datetime import datetime
from itertools import islice
from pathlib import Path

from triage.model import Source
from triage.slurm.record import JobRecord

MAX_BYTES = 4 << 20
MAX_FILES = 256
SLACK = 5.0
"""Seconds before the job's start that count as its own: clocks differ a little."""
_NAME = re.compile(r"(?P<job>\d{1,10})\.(?P<node>[\w-][\w.-]{0,200})\.(?:kernel\.log|nvidia-smi\.txt)")


def snapshots(folder: Path, job: JobRecord) -> tuple[Source, ...]:
    """The node evidence of one job, of its own nodes only."""
    found: list[Source] = []
    try:
        names = sorted(p.name for p in folder.iterdir() if p.name.startswith(f"{job.job_id}."))
    except OSError:
        return ()
    for name in islice(names, MAX_FILES):
        match = _NAME.fullmatch(name)
        if match is None or match["node"] not in job.nodes:
            continue
        data = _read(folder / name)
        if data and name.endswith(".kernel.log"):
            data = since(data, job.start)
        if data:
            found.append(Source(f"node evidence {name}", data=data, host=match["node"]))
    return tuple(found)


def since(data: bytes, start: float | None) -> bytes:
    """The lines from the job's start on: releases that don't tell the epilog when that was leave more in."""
    if start is None:
        return data
    kept: list[bytes] = []
    for line in data.splitlines(keepends=True):
        try:
            at = datetime.strptime(line[:31].decode("ascii", "replace"), "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
        except ValueError:
            continue
        if at >= start - SLACK:
            kept.append(line)
    return b"".join(kept)


def _read(path: Path) -> bytes | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or (status.st_uid != 0 and status.st_uid != os.geteuid()):
            return None
        return os.pread(file, MAX_BYTES, max(0, status.st_size - MAX_BYTES))
    finally:
        os.close(file)
