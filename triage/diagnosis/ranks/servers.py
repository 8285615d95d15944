"""Who serves the store: of the processes that set it up themselves, without an agent, rank 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item

_PORT_IN_USE = "torch.port-in-use"
_BY_RANKS = "_create_c10d_store"
"""The function in which ``init_process_group`` makes the store; agents have others."""


def by_server(items: Sequence[Item]) -> list[Item]:
    """``items`` with rank 0 where a program could not serve its store, and the line names nobody."""
    made = [i for i in items if i.rule.fact == "exception" and i.text("raised_function") == _BY_RANKS]
    if not made:
        return list(items)
    return [
        Item(replace(item.finding, rank=0), item.rule)
        if item.rule.id == _PORT_IN_USE and item.rank is None and any(inside(item, e) for e in made)
        else item
        for item in items
    ]
