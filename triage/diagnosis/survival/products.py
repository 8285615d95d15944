"""Ends in words alone: a script says that it has finished whatever became of what it ran, and of what that was to write."""

from __future__ import annotations

from triage.diagnosis.job import Item, Job
from triage.diagnosis.order import last_of
from triage.scan.lazy import compiled

_OF_PRODUCTS = frozenset(["storage", "checkpoint"])
_PRODUCT = (
    r"(?i)\b(?:could not|couldn't|cannot|can't|failed to|unable to|error|failure)\b.{0,40}\b(?:writ|sav|export|stor|dump|upload)\w*\b"
    r".{0,60}\b(?:final|best|last|trained|weights|model|results?|safetensors|predictions)\b"
)
"""How it is said that what a run is for could not be written."""
_WORK = ("progress", "alive", "phase-end", "begun", "comm-init-start")
"""What shows that a run went on after that."""
_FEW = 6
"""Lines between an exception and a good end that a script may say by itself: that it copies logs, the time, a ruler."""
_SAID = "progress.finished"
"""A good end in words only, which a script says whatever became of what it ran."""


def in_words(end: Item) -> bool:
    """Whether a good end is one that somebody only says."""
    return end.rule.id == _SAID or end.fields.get("_words") is True


def product_lost(job: Job, item: Item, end: Item) -> bool:
    """Whether what the work was for could not be written, below its last step, and nothing was done since."""
    if item.rule.category not in _OF_PRODUCTS or item.rule.role != "cause" or not item.finding.evidence:
        return False
    return compiled(_PRODUCT).search(item.finding.evidence[-1].text) is not None and _idle(job, item, end)


def said_by_another(job: Job, item: Item, end: Item) -> bool:
    """Whether an exception ended a program, and a good end right below it is the word of who had started that.

    A program that catches an exception goes on with something; so much as that is told by it.
    """
    finding = item.finding
    if not finding.raised or finding.level is not None or finding.source != end.finding.source:
        return False
    below, left = job.lines_below(finding), job.lines_below(end.finding)
    if below is None or left is None or not 0 < below - left <= _FEW:
        return False
    shown = finding.evidence[-1]
    again = job.began is not None and shown.line is not None and job.began(finding.source, shown.line)
    return not again and _idle(job, item, end)


def _idle(job: Job, item: Item, end: Item) -> bool:
    """Whether nothing of a run's work is told between something and a good end."""
    return not any(
        other.finding.source == item.finding.source and last_of(item) < last_of(other) < end.finding.offset
        for fact in _WORK
        for other in job.of_fact(fact)
    )
