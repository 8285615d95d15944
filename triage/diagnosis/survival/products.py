"""Ends in words alone: a script says that it has finished whatever became of what it ran, and of what that was to write."""

from __future__ import annotations

from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job
from triage.diagnosis.order import last_of
from triage.scan.lazy import compiled
from triage.scan.ordinary.recovery import FRESH

_OF_PRODUCTS = frozenset(["storage", "checkpoint"])
_PRODUCT = (
    r"(?i)\b(?:could not|couldn't|cannot|can't|failed to|unable to|error|failure)\b.{0,40}\b(?:writ|sav|export|stor|dump|upload)\w*\b"
    r".{0,60}\b(?:final|best|last|trained|weights|model|results?|safetensors|predictions)\b"
)
"""How it is said that what a run is for could not be written."""
_WRITES = r"(?i)(?:^|[\W_])(?:save|write|dump|export|store|upload|publish)(?:[\W_]|$)"
"""A call that writes something."""
_ELSEWHERE = (
    r"(?i)^(?!.*\b(?:not|never|no|cannot|could|couldn't|failed|unable)\b).*\b(?:saved?|wrote|written|stored|exported|uploaded|published)\b"
    r"|\b(?:instead|fall(?:s|ing)? back|fell back)\b"
)
"""How it is said that it was written all the same, or somewhere else."""
_WORK = ("progress", "alive", "phase-end", "begun", "comm-init-start")
"""What shows that a run went on after that."""
_FEW = 6
"""Lines between an exception and a good end that a script may say by itself: that it copies logs, the time, a ruler."""
_OUT_OF_TIME = "slurm.time-limit"
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


def stopped_for_good(job: Job, item: Item, end: Item) -> bool:
    """Whether the scheduler ended a job at its time limit, and what is said below it is an epilogue's: nothing was done since."""
    return item.rule.id == _OUT_OF_TIME and _idle(job, item, end)


def for_nothing(job: Job, item: Item) -> bool:
    """Whether an exception is the last thing that a log tells but for the words that all is done.

    Who says them is not the one who raised it, if nothing is said of what is done about it; or what was to be written
    was not, and is nowhere else.
    """
    finding = item.finding
    if not finding.raised or finding.level is not None or item.rule.role != "cause" or job.said is None:
        return False
    ends = [
        end for end in job.of_fact("ended-well")
        if end.finding.source == finding.source and last_of(end) > last_of(item)
    ]  # fmt: skip
    raised = next((e for e in job.of_fact("exception") if e is item or inside(item, e)), None)
    if raised is None or raised.finding.level is not None or raised.fields.get("_caught") is True:
        return False
    if not ends or not all(in_words(end) for end in ends) or not _idle(job, item, ends[-1]):
        return False
    first, last = finding.evidence[-1].line, ends[0].finding.evidence[-1].line
    said = [] if first is None or last is None else job.said(finding.source, first, last)
    if first is None or last is None or len(said) > _FEW:
        return False
    # who got over the same before has caught it again
    ended = raised.fields.get("_main") is True and raised.finding.count == 1
    if ended and not any(compiled(FRESH).search(text) for text in said):
        return True
    calls = (str(raised.fields.get(name) or "") for name in ("code", "function", "_call"))
    writes = item.rule.category in _OF_PRODUCTS and any(compiled(_WRITES).search(call) for call in calls)
    return writes and not any(compiled(_ELSEWHERE).search(text) for text in said)


def _idle(job: Job, item: Item, end: Item) -> bool:
    """Whether nothing of a run's work is told between something and a good end."""
    return not any(
        other.finding.source == item.finding.source and last_of(item) < last_of(other) < end.finding.offset
        for fact in _WORK
        for other in job.of_fact(fact)
    )
