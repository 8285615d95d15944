"""How processes and runs of a job came to their ends, as launchers and schedulers tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from triage.diagnosis.job import TROUBLE, Item, Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.order import last_of
from triage.scan.lazy import deferred

BAD_ENDS = ("rank-exit", "launcher-report", "external-stop", "teardown")
OF_STOPS = frozenset(["external-stop", "teardown"])
"""What is told of a stop while the processes may still be at work."""
_STEPS = 4
"""Different steps that only a run at work makes."""


@dataclass(slots=True, eq=False, repr=False)
class Endings:
    """What the logs tell of bad ends, and of what came after good ones."""

    job: Job
    ledger: Ledger

    def badly(self) -> bool:
        """Whether a launcher or scheduler saw a process of this job end badly."""
        return any(True for _ in self.bad())

    def badly_but_stopped_below(self, sign: Item) -> bool:
        """Whether a process ended badly otherwise than by a stop of which the same log tells below ``sign``."""
        return any(
            not OF_STOPS & set(end.rule.tags)
            or end.finding.source != sign.finding.source
            or end.finding.offset <= last_of(sign)
            for end in self.bad()
        )

    def troubled(self) -> bool:
        """Whether ranks complain of others that did not come, or went away."""
        return any(self.job.of_tag(tag) for tag in TROUBLE)

    def resumed(self, end: Item) -> bool:
        """Whether another run begins after a good end, in the same source: the end was an earlier run's."""
        return any(
            other.finding.source == end.finding.source and last_of(other) > last_of(end)
            for fact in ("progress", "comm-init-start", "rendezvous", "begun")
            for other in self.job.of_fact(fact)
        )

    def died_since(self, progress: Item, item: Item) -> bool:
        """Whether a process ended badly that may have been at work until ``progress``.

        One whose end the same log tells before that progress, and after the error, was an earlier run's; so was one
        that had ended before the error, where steps were made in between.
        """
        ends = list(self.bad())
        return (
            bool(ends) and not self.over(progress, item) and not all(self._long_over(e, item) for e in ends)
        )

    def over(self, progress: Item, item: Item) -> bool:
        """Whether the log tells, between an error and progress, that a process had come to a bad end."""
        return any(
            not OF_STOPS & set(end.rule.tags)
            and end.finding.source == item.finding.source
            and last_of(item) < last_of(end) < last_of(progress)
            for end in self.bad()
        )

    def _long_over(self, end: Item, item: Item) -> bool:
        """Whether the same log tells of several steps after a bad end and before an error, or after an interruption."""
        first, last = last_of(end), item.finding.offset
        if end is item and item.finding.raised and item.rank is None:
            last = 1 << 62
        return end.finding.source == item.finding.source and sum(
            p.finding.source == end.finding.source and p.rank is None
            and (first < p.finding.offset < last or first < last_of(p) < last)
            for p in self.job.of_fact("progress")
        ) >= _STEPS  # fmt: skip

    def bad(self) -> Iterator[Item]:
        """The lines in which a launcher or scheduler says that a process of this job ended badly."""
        yield from (end.item for end in self.ledger.exits.values() if end.failed)
        yield from self.told(*BAD_ENDS)

    def told(self, *tags: str) -> Iterator[Item]:
        """What was said under ``tags``, but for what is known to be harmless."""
        return (item for tag in tags for item in self.job.of_tag(tag) if item.rule.role != "benign")


_CHILDREN = frozenset({"host.child-ended", "host.child-left", "host.rank-ended"})
_FEWEST_ENDS = 3
_OF_CHILD = deferred(r"(?i)(?:rank|worker|process|trainer|proc|child|task|replica)[ _#-]?(\d{1,5})")


def first_ended(job: Job, rank_of_pid: Callable[[int | None], int | None]) -> int | None:
    """The rank whose process a launcher saw end first, where it tells of several as they end.

    One that asks each of its processes in turn tells of them by their numbers.
    """
    ends = [item for item in job.items if item.rule.id in _CHILDREN]
    if len(ends) < _FEWEST_ENDS or len({item.finding.source for item in ends}) != 1:
        return None
    ranks = []
    for item in sorted(ends, key=lambda item: item.finding.offset):
        called = _OF_CHILD.fullmatch(item.text("name") or "")
        rank = item.number("rank")
        rank = rank_of_pid(item.number("pid")) if rank is None else rank
        ranks.append(int(called[1]) if rank is None and called is not None else rank)
    known = [rank for rank in ranks if rank is not None]
    if len(known) < len(ranks) or len(set(known)) < len(known) or max(known) >= 2 * len(known):
        return None
    return known[0] if known != sorted(known) else None
