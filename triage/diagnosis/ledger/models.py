"""Whose model differs, where DDP compares them: every rank that complains names itself and another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.diagnosis.ledger.oddities import suspect
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value

RULE = "torch.ddp-model-differs"
UNHEARD = "torch.ddp-model-unheard"
"""The same where the number that was heard is an empty buffer's."""
FEWEST = 3
"""Ranks that must be known to tell the odd one."""


def models_differ(job: Job, ledger: Ledger) -> Iterator[Item]:
    """The rank with another number of parameters, or of other shapes; or that what was compared are no numbers of parameters."""
    items = [*job.of_rule(RULE), *job.of_rule(UNHEARD)]
    own: dict[int, int] = {}
    heard: dict[int, set[int]] = {}
    misshapen: dict[int, Item] = {}
    for item in items:
        rank, count, other = item.number("rank_a"), item.number("ours"), item.number("rank_b")
        theirs = item.number("theirs")
        if rank is not None and count is not None:
            own.setdefault(rank, count)
        if other is not None and theirs is not None:
            heard.setdefault(other, set()).add(theirs)
        if rank is not None and item.number("index") is not None:
            misshapen.setdefault(rank, item)
    if not own and not misshapen:
        return
    strange = [r for r, counts in heard.items() if len(counts | {own[r]} if r in own else counts) > 1]
    if strange or (own and misshapen):
        # whoever comes to the shapes had heard one number from all; two that hear otherwise heard other messages
        guilty = suspect(job, set(ledger.members) | set(own) | set(misshapen))
        fields: dict[str, Value] = {
            "ranks": () if guilty is None else (guilty,), "told": tuple(sorted({*own, *misshapen}))
        }  # fmt: skip
        said = [i for i in (*job.of_fact("deviant"), *job.of_fact("oddity")) if i.rank == guilty]
        witnesses = [items[0], *(said[:1] if guilty is not None else ()), *items[1:]]
        yield verdict(job, "ledger.models-garbled", fields, witnesses, rank=guilty)
        return
    odd = _odd_counts(own, heard) if own else _odd_shapes(misshapen, ledger)
    if odd:
        named = [i for i in items if {i.number("rank_a"), i.number("rank_b")}.intersection(odd)]
        lead = named[0] if named else items[0]
        fields = {
            "ranks": odd, "ours": own.get(odd[0], next(iter(heard.get(odd[0], ())), None)),
            "usual": next((n for r, n in sorted(own.items()) if r not in odd), None),
        }  # fmt: skip
        yield verdict(
            job, "ledger.model-of-one", fields, [lead, *items], rank=odd[0] if len(odd) == 1 else None
        )


def _odd_counts(own: dict[int, int], heard: dict[int, set[int]]) -> tuple[int, ...]:
    """The few that have another number of parameters than more than half of those that are known."""
    told = {r: next(iter(counts)) for r, counts in heard.items()} | own
    (usual, votes), *_ = Counter(told.values()).most_common(1)
    odd = tuple(sorted(r for r, count in told.items() if count != usual))
    return odd if len(told) >= FEWEST and 2 * votes > len(told) else ()


def _odd_shapes(misshapen: dict[int, Item], ledger: Ledger) -> tuple[int, ...]:
    """All are compared with rank 0: the few that differ complain, and all others do where rank 0 does."""
    members = max(max(misshapen) + 1, ledger.identities.world_size or 0)
    if members < FEWEST:
        return ()
    if set(misshapen) == set(range(1, members)):
        return (0,)
    return tuple(sorted(misshapen)) if 2 * len(misshapen) < members else ()
