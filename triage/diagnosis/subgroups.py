"""Who else belongs to a sub-group, by the numbers that those who speak have in it and among all.

Groups of a mesh take every so many ranks: members 0, 1 and 3 of a group that are ranks 40, 41 and 43 leave 42 for member 2.
"""

from __future__ import annotations

from triage.diagnosis.job import Job
from triage.diagnosis.ledger import Ledger, group_of

_FEWEST = 2
"""Members by which the stride is known."""


def silent_members(job: Job, ledger: Ledger, group: str) -> list[int]:
    """The ranks of a group that say nothing of it, between those that do."""
    numbers: dict[int, int] = {}
    for item in job.of_fact("pg-status"):
        number = item.number("group_rank")
        if item.rank is None or number is None or group_of(item, ledger.scattered) != group:
            continue
        if numbers.setdefault(number, item.rank) != item.rank:
            return []
    if len(numbers) < _FEWEST:
        return []
    (low, first), *rest = sorted(numbers.items())
    strides = {(rank - first) / (number - low) for number, rank in rest}
    stride = strides.pop()
    if strides or stride < 1 or stride != int(stride):
        return []
    base = first - int(stride) * low
    found = [base + int(stride) * number for number in range(max(numbers)) if number not in numbers]
    size = ledger.identities.world_size
    return [] if base < 0 or any(size is not None and rank >= size for rank in found) else found
