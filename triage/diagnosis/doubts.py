"""What the cause may be instead: shown below it, never above."""

from __future__ import annotations

from triage.diagnosis.hearsay import also
from triage.diagnosis.job import Item, Job
from triage.diagnosis.verdicts import verdict

SURE = 0.15
"""How sure it is that the cause is one of these."""
_STAND_BEHIND = {
    "SIGKILL": "ledger.behind-oom",
    "SIGBUS": "ledger.behind-shm",
    "SIGTERM": "ledger.behind-stop",
    "SIGHUP": "ledger.behind-stop",
    "SIGINT": "ledger.behind-stop",
}
"""Who mostly sends a signal that the log of the job does not tell the sender of."""
_WORDLESS = frozenset({"ledger.vanished", "ledger.exited", "ledger.peer-vanished"})
"""Ends of which not even the signal is known: the kernel's own is the one that leaves nothing."""


def others(job: Job, item: Item) -> list[Item]:
    """Other kinds of failure that the finding of a cause may be of."""
    return [*also(job, item), *_behind(job, item)]


def _behind(job: Job, item: Item) -> list[Item]:
    if item.rule.category != "rank-crash" and item.rule.id not in _WORDLESS:
        return []
    signal = item.text("signal") or ("SIGKILL" if item.rule.id in _WORDLESS else "")
    rule = _STAND_BEHIND.get(signal)
    if rule is None:
        return []
    ranks = item.ranks("ranks")
    return [
        verdict(job, rule, {"ranks": ranks, "signal": signal}, [item], rank=ranks[0] if ranks else item.rank)
    ]
