"""Whom a monitored barrier names: it counts within the group that it was called for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from triage.diagnosis.job import Item, Job

BARRIER = "torch.monitored-barrier"
SURVIVOR = "torch.monitored-barrier-survivor"


def by_rank(job: Job) -> None:
    """Put ranks in place of numbers that are a sub-group's, where tags show what ranks others in it have; else nobody.

    Groups of a mesh take every so many ranks: members 0, 1 and 3 that are ranks 4, 5 and 7 leave 6 for member 2.
    """
    ranks: dict[int, int] = {}
    for item in (*job.of_rule(BARRIER), *job.of_rule(SURVIVOR)):
        member = item.number("member")
        if member is None or item.rank is None:
            continue
        if ranks.setdefault(member, item.rank) != item.rank:
            ranks = {-1: -1}  # several groups
            break
    if all(member == rank for member, rank in ranks.items() if member >= 0) and -1 not in ranks:
        return
    job.exchange({id(item): _named(item, ranks) for item in job.of_rule(BARRIER)})


def _named(item: Item, ranks: Mapping[int, int]) -> Item:
    found = [_rank(member, ranks) for member in item.ranks("ranks")]
    named = tuple(rank for rank in found if rank is not None)
    fields = {**item.fields, "ranks": named if len(named) == len(found) else ()}
    return Item(replace(item.finding, fields=fields), item.rule)


def _rank(member: int, ranks: Mapping[int, int]) -> int | None:
    """The rank of a member of which nobody tells it, by the steps between those of the others."""
    (low, first), *rest = sorted(ranks.items())
    steps = {(rank - first) / (number - low) for number, rank in rest}
    if len(steps) != 1:
        return None
    step = steps.pop()
    rank = first + (member - low) * int(step)
    return rank if step >= 1 and step == int(step) and rank >= 0 else None
