"""How many cores there are for this process."""

from __future__ import annotations

import os


def cores() -> int:
    """The cores that this process may use: a job may have been given a part of its node."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
