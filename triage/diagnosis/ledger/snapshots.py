"""What one rank's desync report says of all others (TORCH_NCCL_DESYNC_DEBUG): who is in which operation.

The members of a group write into the store what they start and finish, under their numbers in the group.
"""

from __future__ import annotations

from collections.abc import Iterator

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.groups import DEFAULT_GROUP
from triage.diagnosis.ledger.ledger import Ledger, Wait
from triage.scan.lazy import deferred

_ASKED = "torch.desync-report-timeout"
_STARTED = deferred(r"\[([\d, ]+)\] started (\w+)")


def take_in(job: Job, ledger: Ledger) -> None:
    """Note the waits of ranks that a report lists, where these say nothing themselves."""
    for item in job.of_fact("desync-started"):
        group = _group(ledger, item)
        if group is None:
            continue
        waits = ledger.waits.setdefault(group, {})
        listed = dict(_started(item))
        if ledger.identities.world_size is None and ledger.seen <= listed.keys() == set(range(len(listed))):
            # who has written nothing into the store is told of in another report: these are all of the group
            ledger.identities.world_size, ledger.members = len(listed), tuple(sorted(listed))
        for rank, op in listed.items():
            waits.setdefault(rank, Wait(rank, group, item.number("seq"), op, None, None, None, None, item))


def _group(ledger: Ledger, item: Item) -> str | None:
    """The group that a report is of, as far as numbers in it are ranks; None where they are not known to be."""
    asked = [
        wait for waits in ledger.waits.values() for wait in waits.values()
        if wait.item.rule.id == _ASKED and wait.item.finding.source == item.finding.source
        and wait.item.finding.offset < item.finding.offset
    ]  # fmt: skip
    if asked:
        own = max(asked, key=lambda wait: wait.item.finding.offset)
        return own.group if own.item.number("group_rank") == own.rank else None
    return None if ledger.scattered or ledger.identities.tags_are_local else DEFAULT_GROUP


def _started(item: Item) -> Iterator[tuple[int, str]]:
    for ranks, op in _STARTED.findall(item.text("table") or ""):
        for rank in ranks.replace(",", " ").split():
            yield int(rank), op
