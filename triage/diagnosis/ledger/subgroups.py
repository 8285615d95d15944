"""Who else belongs to a sub-group, by the numbers that those who speak have in it and among all, and who issued less in it.

Groups of a mesh take every so many ranks: members 0, 1 and 3 of a group that are ranks 40, 41 and 43 leave 42 for member 2.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.groups import DEFAULT_GROUP, UNNAMED, group_of
from triage.diagnosis.ledger.ledger import Ledger, Wait
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value

_FEWEST = 2
"""Members by which the stride is known."""


def silent_members(job: Job, ledger: Ledger, group: str) -> list[int]:
    """The ranks of a group that say nothing of it, between those that do."""
    numbers = numbers_of(job, ledger, group)
    found = members_between(numbers, max(numbers, default=0))
    size = ledger.identities.world_size
    return [] if any(size is not None and rank >= size for rank in found) else found


def numbers_of(job: Job, ledger: Ledger, group: str) -> dict[int, int]:
    """Which rank has which number within a group; nothing where two have the same."""
    numbers: dict[int, int] = {}
    for item in job.of_fact("pg-status"):
        rank, number = ledger.identities.rank_of(item.finding), item.number("group_rank")
        if rank is None or number is None or group_of(item, ledger.scattered, rank) != group:
            continue
        if numbers.setdefault(number, rank) != rank:
            return {}
    return numbers


def members_between(numbers: Mapping[int, int], size: int) -> list[int]:
    """The ranks of those of the first ``size`` members of a group whose numbers are not among the known ones."""
    if len(numbers) < _FEWEST:
        return []
    (low, first), *rest = sorted(numbers.items())
    strides = {(rank - first) / (number - low) for number, rank in rest}
    stride = strides.pop()
    if strides or stride < 1 or stride != int(stride):
        return []
    base = first - int(stride) * low
    return (
        [] if base < 0 else [base + int(stride) * number for number in range(size) if number not in numbers]
    )


def waited_for(ledger: Ledger, waits: list[Wait], inside: Container[int]) -> tuple[list[Wait], list[int]]:
    """Who waits in one operation of a group that no line names, and who of its members does not, by their numbers in it."""
    first = waits[0]
    together = [
        own for group, ranks in ledger.waits.items() if group.startswith(UNNAMED) for own in ranks.values()
        if (own.op, own.seq, own.numel_in, own.numel_out) == (first.op, first.seq, first.numel_in, first.numel_out)
    ]  # fmt: skip
    together.sort(key=lambda own: own.rank)
    numbers = {n: own.rank for own in together if (n := own.item.number("group_rank")) is not None}
    if len(numbers) < len(together):
        return waits, []  # several groups are in the same
    size = ledger.identities.world_size
    missing = members_between(numbers, max(numbers, default=0))
    if not missing or any(r in inside or (size is not None and r >= size) for r in missing):
        return waits, []
    return together, missing


_FEWEST_ALIKE = 3
"""Ranks that must have issued as much as each other."""


def issued_less(job: Job, ledger: Ledger, waits: Sequence[Wait]) -> Item | None:
    """The verdict on the one rank that issued fewer collectives than all others that wait in one with it."""
    if len({(wait.group, wait.seq, wait.op) for wait in waits}) != 1:
        return None
    told = [status for wait in waits if (status := ledger.status_of(wait.rank, wait.group)) is not None]
    most = max((status.enqueued for status in told), default=0)
    fewer = [status for status in told if status.enqueued < most]
    if len(told) < len(waits) or len(fewer) != 1 or len(told) <= _FEWEST_ALIKE:
        return None
    (own,), first = fewer, waits[0]
    rank = own.item.rank
    if rank is None:
        return None
    fields: dict[str, Value] = {
        "ranks": (rank,), "seq": first.seq, "op": first.op, "enqueued": own.enqueued, "issued": most
    }  # fmt: skip
    return verdict(job, "ledger.issued-less", fields, [own.item, first.item], rank=rank)


def issued_alone(job: Job, ledger: Ledger) -> Item | None:
    """The verdict on the one rank that issued collectives in the group of all beyond those that it and others completed.

    Watchdogs that are told to dump say how far they are: where all others have nothing to do, they never issued them.
    """
    told = ledger.status.get(DEFAULT_GROUP, {})
    busy = {rank: status for rank, status in told.items() if status.enqueued > status.completed}
    if len(busy) != 1 or len(told) < _FEWEST_ALIKE:
        return None
    ((rank, own),) = busy.items()
    if any(status.enqueued != own.completed for other, status in told.items() if other != rank):
        return None
    fields: dict[str, Value] = {"ranks": (rank,), "seq": own.completed + 1}
    return verdict(job, "ledger.extra-collective", fields, [own.item], rank=rank)
