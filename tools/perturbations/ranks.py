"""The same failure with the ranks exchanged, in every way in which they are written."""

from __future__ import annotations

import random
import re

from perturbations.job import Job, kind
from perturbations.names import everywhere

_WAYS = [
    r"(?i)(?<![a-z])((?:local[_ -]?|global[_ -]?|group[_ -]?)?ranks?\s*[:=#]?\s*[\[(]?)(\d+)(?![\d.])",
    r"(?i)(\b(?:default|worker|shard|proc|process|trainer|replica|task|gpu|cuda:|device|cudaDev|dev|stage|member|peer)"
    r"[ _:=#-]?)(\d+)(?![\d.%/])",
    r"(\[)(\d+)(?=\](?::?\s*NCCL | is setting up NCCL))",
    r"(\[)(\d+)(?=\](?:<stderr>|<stdout>)?:)",
    r"(\b[A-Za-z]+(?:_[a-z]+)*[._-])(\d+)(?=\.(?:log|out|err|txt)\b)",
]


@kind("ranks-exchanged")
def ranks_exchanged(job: Job, rng: random.Random) -> Job | None:
    """Ranks from 1 on permuted in a job of one node; rank 0, which hosts and prints for all, stays."""
    wanted = job.expected.get("origin_rank")
    joined = "\n".join([*job.texts, *job.texts.values()])
    several = re.search(r"(?i)(?:node|host)[-_]?0?[12]\b", joined) or re.search(
        r"(?:tp|pp|dp)[ =]\d", joined, re.IGNORECASE
    )
    if wanted is None or job.others or several or not job.texts:
        return None
    told = {int(m[2]) for m in re.finditer(_WAYS[0], joined)} | {
        int(m[1]) for m in re.finditer(r"\[default(\d+)\]", joined)
    }
    world = max(told, default=0) + 1
    if world < 3 or told != set(range(world)):  # counted from elsewhere, or not all are there
        return None
    others = list(range(1, world))
    moved = others[:]
    while moved == others:
        rng.shuffle(moved)
    new = {0: 0, **dict(zip(others, moved, strict=True))}

    def exchanged(text: str) -> str:
        for way in _WAYS:
            text = re.sub(way, lambda m: f"{m[1]}\0{new.get(int(m[2]), int(m[2]))}\0", text)
        return text.replace("\0", "")

    changed = everywhere(job, exchanged)
    if changed is None:
        return None
    old = wanted if isinstance(wanted, list) else [wanted]
    where = [new.get(rank, rank) for rank in old]
    changed.expected["origin_rank"] = where if isinstance(wanted, list) else where[0]
    return changed
