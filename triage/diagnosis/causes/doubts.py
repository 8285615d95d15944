"""What the cause may be instead: shown below it, never above."""

from __future__ import annotations

from dataclasses import replace

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.verdicts import verdict
from triage.diagnosis.words.hearsay import also

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
FRAGMENTED = "torch.oom-fragmentation"
_MODULES = {
    "python.module-missing": "python.own-module-missing",
    "python.own-module-missing": "python.module-missing",
}
"""What is missing may be somebody's package or the program's own."""
_MEMORY = {FRAGMENTED: "torch.oom", "torch.oom": FRAGMENTED}
_WORDLESS = frozenset({"ledger.vanished", "ledger.exited", "ledger.peer-vanished"})
"""Ends of which not even the signal is known: the kernel's own is the one that leaves nothing."""


LINK = "ledger.link-broke"
"""A process that ends breaks its links as well."""


def others(job: Job, item: Item) -> list[Item]:
    """Other kinds of failure that the finding of a cause may be of."""
    return [*also(job, item), *_behind(job, item), *_of_memory(job, item), *_of_modules(job, item)]


def _of_modules(job: Job, item: Item) -> list[Item]:
    other = _MODULES.get(item.rule.id)
    return [] if other is None else [Item(replace(item.finding, rule_id=other), job.rules[other])]


def _of_memory(job: Job, item: Item) -> list[Item]:
    """Fragmentation for demand and the other way round, where so much lies unallocated that it may be either."""
    requested, unallocated = item.fields.get("requested"), item.fields.get("unallocated")
    other = _MEMORY.get(item.rule.id)
    if other is None or not isinstance(requested, int | float) or not isinstance(unallocated, int | float):
        return []
    if unallocated < requested and item.rule.id != FRAGMENTED:
        return []
    return [Item(replace(item.finding, rule_id=other), job.rules[other])]


def _behind(job: Job, item: Item) -> list[Item]:
    if item.rule.id == LINK:
        return [verdict(job, "ledger.peer-vanished", {"peer": item.text("peer")}, [item])]
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
