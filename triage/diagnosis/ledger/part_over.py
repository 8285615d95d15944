"""Who came out of a loop in which the others still were, when calls met that do not fit each other.

Where data is uneven, several ranks may have fewer batches than the others: what they do next meets the others' gradients.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from triage.diagnosis.job import Job
from triage.diagnosis.ledger.oddities import tells_that_a_part_is_over
from triage.scan.lazy import compiled

_FEWEST = 3
"""Ranks of which some are told from the others."""


def out_of_the_loop(job: Job, among: Collection[int]) -> tuple[int, ...]:
    """The ranks, not more than half, that said last that a part of the work is over, where all others are in one wording at it."""
    last = {i.rank: i for i in job.of_fact("last-line") if i.rank is not None and i.rank in among}
    if len(last) < _FEWEST or last.keys() != set(among):
        return ()
    by_wording: dict[str, list[int]] = defaultdict(list)
    for rank, item in last.items():
        by_wording[compiled(r"\d[\d.,:e+-]*").sub("#", (item.text("words") or "").lower())].append(rank)
    over = [
        ranks
        for ranks in by_wording.values()
        if tells_that_a_part_is_over(last[ranks[0]].text("words") or "")
    ]
    if len(by_wording) != 2 or len(over) != 1 or 2 * len(over[0]) > len(last):
        return ()
    return tuple(sorted(over[0]))
