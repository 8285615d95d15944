"""Marks of progress after an error: whose they are, and whether they show that work went on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from triage.diagnosis.job import TROUBLE, Item
from triage.diagnosis.order import last_of
from triage.diagnosis.survival.endings import BAD_ENDS, OF_STOPS, Endings
from triage.scan.lazy import compiled

LONG_BAR = 100
"""Steps of a bar that is more than a file being read."""
_LONG_AFTER = 256 << 10
"""Bytes of a log that no number of processes leaves behind when they end."""
_BAR = r"(\d+)/(\d+) ?\[[\d:]+<"
BAR_RULE = "progress.bar"
"""What is drawn again on the way out."""
_REDRAWN = 3
"""How often a bar is drawn at an end without having moved."""


@dataclass(slots=True, eq=False, repr=False)
class Strides:
    """The steps of the job."""

    endings: Endings

    def after(self, item: Item) -> Item | None:
        """A mark of progress that shows that the work went on after ``item``."""
        marks = [p for p in self.endings.job.of_fact("progress") if self._moved_on(p, item)]
        return next(
            (
                p for p in marks
                if p.rank is not None or _several(marks, item)
                or (p.rule.id != BAR_RULE and self.endings.over(p, item))
            ),
            None,
        )  # fmt: skip

    def _moved_on(self, progress: Item, item: Item) -> bool:
        """Progress by the same writer after the error. One more line of another rank proves nothing."""
        mark, error = progress.finding, item.finding
        if mark.source != error.source:
            return False
        same_rank = mark.rank is not None and mark.rank == error.rank
        anonymous = error.rank is None and mark.rank is None and mark.stream == error.stream
        if anonymous and self.endings.died_since(progress, item) and not self._went_on(progress, item):
            return False  # the bar may be another rank's, and somebody did die
        if not (same_rank or anonymous):
            return False
        if error.raised and not error.stream and mark.stream.startswith("pid "):
            return False  # a driver passed on what ended the task; what its worker had printed comes through late
        if item.finding.raised and error.rank is not None and error.rank in self.endings.ledger.exits:
            return False
        return last_of(progress) > last_of(item)

    def _went_on(self, progress: Item, item: Item) -> bool:
        """Whether so much was done after an error that it was not by who outlived another process."""
        return self._to_the_end(progress) or self._until_stopped(progress, item)

    def _to_the_end(self, progress: Item) -> bool:
        """Whether a long bar was drawn to its end after all that went wrong: what died before was another run's."""
        shown = progress.finding.evidence[-1].text if progress.finding.evidence else ""
        bars = compiled(_BAR).findall(shown)
        if not bars or bars[-1][0] != bars[-1][1] or int(bars[-1][1]) < LONG_BAR:
            return False
        return not any(e.failed for e in self.endings.ledger.exits.values()) and all(
            i.finding.source == progress.finding.source and last_of(i) < last_of(progress)
            for i in self.endings.told(*BAD_ENDS, *TROUBLE)
        )

    def _until_stopped(self, progress: Item, item: Item) -> bool:
        """Whether steps went on for long after an error, until a scheduler or an operator ended them.

        What a process that dies held back comes out below its error; so much of it there is never.
        """
        return (
            last_of(progress) - last_of(item) >= _LONG_AFTER
            and not self.endings.troubled()
            and all(
                OF_STOPS & set(end.rule.tags) and end.finding.source == item.finding.source
                and last_of(end) > last_of(progress)
                for end in self.endings.bad()
            )
        )  # fmt: skip


def _several(marks: list[Item], item: Item) -> bool:
    """Whether more than one state was drawn after an error: bars draw themselves once more on the way out."""
    texts = {e.text.strip() for m in marks for e in m.finding.evidence[-1:]}
    # a count may be of hits that nobody looked at one by one: two places show that something was drawn twice
    return len(texts) > 1 or any(
        last_of(m) > m.finding.offset > last_of(item) and not _once_more(m) for m in marks
    )


def _once_more(mark: Item) -> bool:
    """Whether a bar was drawn but a few times, and all of them alike: by who is on its way out."""
    drawn = {bar for e in mark.finding.evidence for bar in compiled(_BAR).findall(e.text)[-1:]}
    return len(drawn) == 1 and mark.finding.count <= _REDRAWN


def last_bar(items: Iterable[Item]) -> Item | None:
    """The bar that was drawn last, of those that tell how long they are."""
    bars = (i for i in items if i.rule.fact == "progress" and i.number("total") is not None)
    return max(bars, key=last_of, default=None)
