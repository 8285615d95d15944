"""Whether somebody interrupted a program that had done all its work: what it shows or serves then is none."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from triage.diagnosis.job import Item, Job
from triage.diagnosis.order import last_of
from triage.diagnosis.survival.endings import Endings
from triage.diagnosis.survival.going_on import ROUTINE_RULE
from triage.model import Evidence
from triage.scan.lazy import compiled

_INTERRUPTED = "python.keyboard-interrupt"
_OF_ALL = r"(?<![\w./:-])(\d{1,9}) ?(?:/|of) ?(\d{1,9})(?![\w/:]|\.\d)"
"""Counts out of all."""
_ABOVE, _NEAR = 120, 30
"""Lines above an interrupt that are looked at, and those among which the last count stands."""
_FEWEST = 2
"""Counts that lead to a full one."""


def through(job: Job, item: Item, endings: Endings) -> Item | None:
    """The line above an interrupt in which a count of all the work came to its total, None without."""
    shown = item.finding.evidence[-1] if item.finding.evidence else None
    rule = job.rules.get(ROUTINE_RULE)
    if (
        item.rule.id != _INTERRUPTED
        or rule is None
        or shown is None
        or shown.line is None
        or job.said is None
    ):
        return None
    if endings.troubled():
        return None
    done = _good_end_above(job, item)
    if done is not None:
        return done
    said = job.said(item.finding.source, shown.line - _ABOVE, shown.line)
    counts = [(text, compiled(_OF_ALL).findall(text)) for text in said]
    counted = [(text, found) for text, found in counts if found]
    if not counted or not any(found for _, found in counts[-_NEAR:]):
        return None
    text, last = counted[-1]
    if not all(int(a) == int(b) > 1 for a, b in last):
        return None
    # a bar of its own in each of many parts comes to its total too
    total = last[0][1]
    told = [int(found[0][0]) for _, found in counted if found[0][1] == total]
    # several ranks tell the same one after the other
    before = [one for one, other in pairwise(told) if one != other]
    if sum(a < b for a, b in zip(before, [*before[1:], int(total)], strict=True)) < _FEWEST or before.count(
        int(total)
    ):
        return None
    line = Evidence(shown.path, None, text)
    return Item(replace(item.finding, rule_id=ROUTINE_RULE, fields={}, evidence=(line,), raised=False), rule)


def _good_end_above(job: Job, item: Item) -> Item | None:
    """The good end of the whole that its program had told before it was interrupted, with nothing begun since."""
    here = item.finding.source
    since = max(
        (
            last_of(other) for fact in ("progress", "comm-init-start", "rendezvous", "begun")
            for other in job.of_fact(fact)
            if other.finding.source == here and last_of(other) < item.finding.offset
        ),
        default=0,
    )  # fmt: skip
    return next(
        (
            end for end in job.of_rule(_DONE)
            if end.finding.source == here and since < last_of(end) < item.finding.offset
        ),
        None,
    )  # fmt: skip


_DONE = "progress.finished"
"""How a program says of all that it is there for that it is done."""
