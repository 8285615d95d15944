"""Which phase a job or a rank was in, and which activity a rank had begun and not finished."""

from __future__ import annotations

from dataclasses import dataclass

from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ranks.seats import Identities
from triage.model import PHASES, Finding

WORDS = {
    "bootstrap": "starting up",
    "load": "loading the model or data",
    "compile": "compiling or capturing graphs",
    "steady": "running steps",
    "checkpoint": "writing or reading a checkpoint",
    "teardown": "shutting down",
}
"""Phases as activities, for sentences."""


@dataclass(slots=True, eq=False, repr=False)
class Activity:
    """Something that a rank began; ``end`` is None when it never came back."""

    phase: str
    start: Item
    end: Item | None

    @property
    def what(self) -> str:
        """The activity in words: the rule's own, else those of its phase."""
        own = self.start.text("activity")
        return own.lower() if own is not None else WORDS.get(self.phase, self.phase)

    @property
    def seconds(self) -> float | None:
        """How long it took, where both ends carry a time."""
        if self.end is None or self.start.finding.time is None or self.end.finding.time is None:
            return None
        took = self.end.finding.time.seconds - self.start.finding.time.seconds
        return took if took >= 0 else None


class Activities:
    """Begun and ended activities, per writer."""

    def __init__(self, job: Job, identities: Identities) -> None:
        self._identities = identities
        self._starts = [
            i for i in job.of_fact("phase-start")
            if i.rule.phase in {"compile", "checkpoint", "load"} or i.text("activity") is not None
        ]  # fmt: skip
        self._ends = list(job.of_fact("phase-end"))
        self._alive = list(job.of_fact("alive"))
        self._steps = [
            i for i in job.of_fact("progress") if i.rule.id != "progress.bar"
        ]  # loading has bars, too

    def of_rank(self, rank: int, before: Finding) -> Activity | None:
        """What ``rank`` had begun before ``before`` and not ended by then, None when nothing.

        Its later end, when there is one, shows that the rank was working all the while.
        """
        open_now: Activity | None = None
        for start in self._starts:
            if not self._is_of(start, rank) or compare(start.finding, before) == 1:
                continue
            end = self._end_of(start, rank)
            if end is not None and compare(end.finding, before) == -1:
                continue
            if self._stepped_on(end or start, rank):
                continue
            if end is None:
                end = self._sign_of_life(start, rank, before)
            open_now = Activity(_phase_of(start), start, end)
        return open_now or self._begun_since(rank, before)

    def _begun_since(self, rank: int, before: Finding) -> Activity | None:
        """Work that ``rank`` counts after ``before``, when the first line of it came later than that."""
        for start in self._starts:
            if (
                start.finding.last_offset is None
                or start.rule.id != "progress.counted-work"
                or self._identities.rank_of(start.finding) != rank
            ):
                continue
            if compare(start.finding, before) == 1 and not self._stepped_on(start, rank):
                return Activity(_phase_of(start), start, Item(start.at_last, start.rule))
        return None

    def _stepped_on(self, item: Item, rank: int) -> bool:
        """Whether the rank went on with its steps: what it had begun was over, whenever the others timed out."""
        source = item.finding.source
        at = item.finding.last_offset or item.finding.offset  # equal lines are folded
        return any(
            step.finding.source == source and (step.finding.last_offset or step.finding.offset) > at
            for step in self._steps
            if self._is_of(step, rank)
        )

    def _is_of(self, item: Item, rank: int) -> bool:
        """Whether ``rank`` wrote a line; what not all say and no name stands before, the first has said for all."""
        writer = self._identities.rank_of(item.finding)
        if writer is None and rank == 0:
            few = item.finding.count < max(2, self._identities.world_size or 0)
            return item.rule.fact != "phase-start" or (few and "percent" not in item.fields)
        return writer == rank

    def _sign_of_life(self, start: Item, rank: int, before: Finding) -> Item | None:
        """An ordinary line of the rank after the others had given up: it was working."""
        if start.finding.last_offset is not None:
            last = Item(start.at_last, start.rule)
            if compare(last.finding, before) == 1:
                return last
        for sign in self._alive:
            known = self._identities.rank_of(sign.finding) == rank
            if known and compare(sign.finding, before) == 1 and compare(sign.finding, start.finding) == 1:
                return sign
        return None

    def _end_of(self, start: Item, rank: int) -> Item | None:
        for end in self._ends:
            if end.rule.phase != start.rule.phase or not self._is_of(end, rank):
                continue
            last = end.finding
            if compare(last, start.finding) == 1:
                return end
        return None


def _phase_of(start: Item) -> str:
    return start.text("phase") or start.rule.phase or "steady"


def phase_at(job: Job, finding: Finding) -> str | None:
    """The phase that the job was in when ``finding`` was written: the last marker before it.

    Markers are rules with a phase and a phase fact, progress lines (steady) and completed
    communicators (past the bootstrap).
    """
    best: tuple[int, str] | None = None
    for item in job.items:
        phase = _marks(item)
        if phase is None or item.finding.source != finding.source:
            continue
        if item.finding.offset >= finding.offset:
            break
        if item.rank is not None and finding.rank is not None and item.rank != finding.rank:
            continue
        best = (item.finding.offset, phase)
        last = item.finding.last_offset
        if phase == "steady" and last is not None and last < finding.offset:
            best = (last, phase)
    if best is not None:
        return best[1]
    return None


def _marks(item: Item) -> str | None:
    fact = item.rule.fact
    if fact == "progress":
        return "steady"
    if fact == "phase-start" and item.rule.phase in PHASES:
        return item.rule.phase
    if fact in {"comm-init-start", "rendezvous"}:
        return "bootstrap"
    return None
