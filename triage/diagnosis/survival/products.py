"""Whether what a run was for could be written: a script says that it has finished all the same."""

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


def product_lost(job: Job, item: Item, end: Item) -> bool:
    """Whether what the work was for could not be written, below its last step, and nothing was done since."""
    if item.rule.category not in _OF_PRODUCTS or item.rule.role != "cause" or not item.finding.evidence:
        return False
    log, shown = item.finding.source, item.finding.evidence[-1]
    return compiled(_PRODUCT).search(shown.text) is not None and not any(
        other.finding.source == log and last_of(item) < last_of(other) < end.finding.offset
        for fact in _WORK
        for other in job.of_fact(fact)
    )
