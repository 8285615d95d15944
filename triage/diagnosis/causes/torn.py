"""Tracebacks between whose head and last line others wrote: processes that die at once share one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from triage.diagnosis.heeded import by_source, inside
from triage.diagnosis.job import Item, Job
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line

_LAST_LINE = r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): \S"


class SpareEnds:
    """Last lines of exceptions that a rule knows, and that stand in no traceback or in one that ends with another."""

    def __init__(self, job: Job, known: Sequence[Item], exceptions: Sequence[Item]) -> None:
        self._left: Counter[int] = Counter()
        self._last: dict[int, int] = {}
        if _others_end(job):
            return
        places = {(i.finding.source, i.finding.offset): i.at_last.offset for i in known}
        counts = {(i.finding.source, i.finding.offset): i.finding.count for i in known}
        for (source, offset), count in counts.items():
            self._left[source] += count
            self._last[source] = max(self._last.get(source, -1), places[source, offset])
        there = by_source(known)
        for item in exceptions:
            if item.text("type") is not None and any(inside(i, item) for i in there[item.finding.source]):
                self._left[item.finding.source] -= item.finding.count

    def take(self, broken: Item) -> bool:
        """Whether one of them may be that of ``broken``, which has none; it is nobody else's then."""
        source = broken.finding.source
        if broken.text("type") is not None or self._left[source] <= 0:
            return False
        if self._last[source] < broken.finding.offset:
            return False
        self._left[source] -= 1
        return True


def _others_end(job: Job) -> bool:
    """Whether some exception's last line stands alone that no rule knows: a broken traceback may be its own."""
    known = {(e.path, e.line) for i in job.items if i.rule.fact != "mention" for e in i.finding.evidence}
    return any(
        (e.path, e.line) not in known and compiled(_LAST_LINE).match(split_line(e.text)[1])
        for i in job.of_fact("mention")
        for e in i.finding.evidence
    )
