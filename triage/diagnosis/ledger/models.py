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
    odd = _odd_count(own, heard) if own else _odd_shape(misshapen, ledger)
    if odd is not None:
        named = [i for i in items if odd in {i.number("rank_a"), i.number("rank_b")}]
        lead = named[0] if named else items[0]
        fields = {
            "ranks": (odd,), "ours": own.get(odd, next(iter(heard.get(odd, ())), None)),
            "usual": next((n for r, n in sorted(own.items()) if r != odd), None),
        }  # fmt: skip
        yield verdict(job, "ledger.model-of-one", fields, [lead, *items], rank=odd)


def _odd_count(own: dict[int, int], heard: dict[int, set[int]]) -> int | None:
    told = {r: next(iter(counts)) for r, counts in heard.items()} | own
    (usual, votes), *_ = Counter(told.values()).most_common(1)
    odd = [r for r, count in told.items() if count != usual]
    return odd[0] if len(odd) == 1 and len(told) >= FEWEST and 2 * votes > len(told) else None


def _odd_shape(misshapen: dict[int, Item], ledger: Ledger) -> int | None:
    """All are compared with rank 0: one that differs complains alone, and all do where rank 0 does."""
    members = max(max(misshapen) + 1, ledger.identities.world_size or 0)
    if members < FEWEST:
        return None
    if len(misshapen) == 1:
        return next(iter(misshapen))
    return 0 if set(misshapen) == set(range(1, members)) else None
