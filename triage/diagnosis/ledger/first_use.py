"""A group to whose first collective not everybody came, in a job that had long been at work.

NCCL sets a group up at its first collective. Where ranks wait in vain for its id after the job has made steps, they found each other
long ago: somebody is kept elsewhere, as in any other collective that nobody ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from triage.diagnosis.job import Item, Job, compare
from triage.diagnosis.ledger.absence import absent_ranks
from triage.diagnosis.ledger.groups import DEFAULT_GROUP
from triage.diagnosis.ledger.instead import left_out
from triage.diagnosis.ledger.ledger import Ledger, Wait
from triage.diagnosis.ledger.phases import Activities
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value

UNPUBLISHED = "torch.store-nccl-id-missing"
RULE = "torch.first-collective-timeout"
_STEP = "progress.step"
_AT_WORK = 2
"""Collectives that a group completed, by which its job is past its beginning."""


def reread(job: Job, ledger: Ledger) -> None:
    """Take waits for the id of the group of all for what they are where the job was at work before."""
    items = [i for i in job.of_rule(UNPUBLISHED) if i.number("awaited") == 0]
    named = all(i.rank is not None and i.number("me") in {None, i.rank} for i in items)
    if not items or not named or ledger.waiting or any(i.number("peer") is not None for i in items):
        return
    if _worked(job, ledger, items[0]):
        job.exchange({id(i): Item(replace(i.finding, rule_id=RULE), job.rules[RULE]) for i in items})


def _worked(job: Job, ledger: Ledger, wait: Item) -> bool:
    """Whether the job had made steps before anybody waited."""
    if any(compare(step.finding, wait.finding) == -1 for step in job.of_rule(_STEP)):
        return True
    return any(s.completed >= _AT_WORK for ranks in ledger.status.values() for s in ranks.values())


def at_first_use(job: Job, ledger: Ledger, activities: Activities) -> Iterator[Item]:
    """Who did not come to the first collective of the group of all, or who alone came."""
    waiting = {i.rank: i for i in job.of_rule(RULE) if i.rank is not None}
    absent = [rank for rank in ledger.members if rank not in waiting]
    others = [rank for rank in absent if rank]
    if not waiting or not absent:
        return
    waits = [_wait(rank, item) for rank, item in sorted(waiting.items())]
    if len(absent) > len(waiting):
        # most are at work elsewhere: who waits went ahead of them, and may have said what it passed over
        said = {i.rank: i for i in left_out(job, ledger.members, ("oddity", "last-line"))}
        if said.keys() == waiting.keys():
            fields: dict[str, Value] = {"ranks": tuple(sorted(waiting)), "seq": None, "op": None}
            words = next(iter(said.values()))
            told = {**fields, "type": words.text("words")}
            yield verdict(job, "ledger.skipped-batch", told, [*said.values(), waits[0].item], rank=words.rank)
            return
    elif others and (0 in ledger.progress or not ledger.progress):
        absent = others  # rank 0, which reports the steps of all, went on until somebody let it down, too
    yield from absent_ranks(job, ledger, activities, waits, absent)


def _wait(rank: int, item: Item) -> Wait:
    timeout = item.seconds("timeout")
    return Wait(rank, DEFAULT_GROUP, None, None, None, None, timeout, timeout, item)
