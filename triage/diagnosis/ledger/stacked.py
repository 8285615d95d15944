"""Whose stack differs, where those of all ranks were printed and nothing else says for whom they wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.verdicts import verdict
from triage.scan.lazy import compiled

STUCK_IN = {"data-loading": "ledger.stuck-in-data", "checkpoint": "ledger.stuck-in-checkpoint"}
"""What a rank does, by the calls on its stack, and the verdict on it."""
BUILD = "compile-or-graph-capture"
FEWEST = 3
"""Stacks of which the one that differs stands out."""
_WAITS = r"\((?:distributed_c10d|c10d_logger|graph|streams|_functional_collectives)\.py:|^synchronize \("
"""Where in torch a rank is that waits for others."""


def apart(job: Job) -> Item | None:
    """The verdict on the one rank that was elsewhere than all others when stacks were printed, or on all that were building."""
    stacks = job.of_fact("stack")
    last = {item.rank: item for item in stacks if item.rank is not None}
    odd = _elsewhere(last)
    if job.of_fact("ended-well"):
        return None
    if odd is None:
        tops = {item.text("top") for item in stacks if item.text("activity") == BUILD}
        together = len(tops) == 1 and all(item.text("activity") == BUILD for item in stacks)
        return verdict(job, "ledger.all-in-build", {"top": tops.pop()}, stacks[:2]) if together else None
    stack = last[odd]
    others = [item for rank, item in sorted(last.items()) if rank != odd]
    told = {name: stack.fields.get(name) for name in ("function", "file", "line", "top")}
    kind = STUCK_IN.get(stack.text("activity") or "", "ledger.stuck-in")
    return verdict(job, kind, {"ranks": (odd,), **told}, [stack, *others[:2]], rank=odd)


def _elsewhere(last: Mapping[int, Item]) -> int | None:
    """The rank whose stack is not where all others are, or of two the one that does not wait in torch."""
    if len(last) >= FEWEST:
        places = Counter((item.text("file"), item.text("function")) for item in last.values())
        (usual, votes), *rest = places.most_common()
        if votes != len(last) - 1 or not rest:
            return None
        return next(r for r, item in last.items() if (item.text("file"), item.text("function")) != usual)
    known = [rank for rank, item in last.items() if item.text("activity") in STUCK_IN]
    if len(last) == 2 and len(known) == 1:
        return known[0]
    at_work = [r for r, item in last.items() if compiled(_WAITS).search(item.text("top") or "") is None]
    return at_work[0] if len(last) == 2 and len(at_work) == 1 else None
