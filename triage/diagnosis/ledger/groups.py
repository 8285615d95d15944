"""Which process group a line speaks of: by its own name, by one that it shares with others, or by none."""

from __future__ import annotations

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities

DEFAULT_GROUP = "default_pg"
UNNAMED = "unnamed group"
"""Stands for the sub-groups that ranks wait in by lines that name none."""


def _own_name(item: Item) -> str | None:
    """The name by which the members of a group know it: its GUID, of which each group has one of its own."""
    return item.text("pg")


def _shared_name(item: Item) -> str | None:
    """What else a line calls a group: a description or an index, that other groups may have as well.

    All sub-groups of one dimension of a mesh share their description, and every process counts the
    groups that it is in for itself.
    """
    return item.text("desc") or item.text("pg_id")


def scattered(job: Job, identities: Identities) -> frozenset[str]:
    """Shared names of which some rank's number within the group shows that they stand for sub-groups.

    Before torch 2.3 a timeout names no group at all, and only the number of its rank tells that it is not that of all.
    """
    elsewhere = [
        item
        for fact in ("pg-status", "collective-timeout")
        for item in job.of_fact(fact)
        if _own_name(item) is None
        and (number := item.number("group_rank")) is not None
        and identities.rank_of(item.finding) not in {None, number}
    ]
    named = {name for item in elsewhere if (name := _shared_name(item)) is not None}
    unnamed = not job.of_fact("pg-status") and any(_shared_name(item) is None for item in elsewhere)
    return frozenset(named | ({UNNAMED} if unnamed else set()))


def group_of(item: Item, shared: frozenset[str] = frozenset(), rank: int | None = None) -> str:
    """The process group that a line of ``rank`` names, as a key under which only its own members are found."""
    name = _own_name(item)
    if name is None:
        name = _shared_name(item)
        if name is None and item.rule.fact == "collective-timeout" and UNNAMED in shared:
            name = UNNAMED
        if name in shared:
            return f"{name} of rank {rank}"  # whose partners nothing tells
    if name in {None, "", "0", "default", "default_pg", "undefined"}:
        return DEFAULT_GROUP
    return str(name)
