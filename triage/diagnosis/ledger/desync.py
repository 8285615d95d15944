"""Ranks that wait in different operations: who left the common path, and how the operations differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.ledger import Ledger, Wait
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value

UNEVEN_OPS = frozenset({"ALLTOALL", "ALLTOALL_BASE", "GATHER", "SCATTER", "SEND", "RECV", "COALESCED"})
"""Operations whose element counts may differ between ranks."""
ONE_SIDED = {"RECV": "sends", "SEND": "receives"}
"""Operations that need another rank in the other one, and what that one does."""
ALL_TO_ALL = frozenset({"ALLTOALL", "ALLTOALL_BASE"})
PAIRWISE_OPS = frozenset({"SEND", "RECV"})
"""Operations of two ranks, in which the others of the group have no part."""
BATCHED = "COALESCED"
"""Several operations issued as one: sends and receives of a pipeline, or collectives."""


def pairwise(waits: Sequence[Wait]) -> bool:
    """Whether what ranks wait in are exchanges with neighbours: each rank counts its own, so that numbers say nothing.

    Batches are of collectives where most ranks wait in one of the same number.
    """
    if not waits or any(w.op not in {*PAIRWISE_OPS, BATCHED} for w in waits):
        return False
    batches = Counter(w.seq for w in waits if w.op == BATCHED)
    return not batches or 2 * max(batches.values()) <= len(waits)


def _signature(wait: Wait) -> tuple[Any, ...]:
    sizes = (None, None) if wait.op in UNEVEN_OPS else (wait.numel_in, wait.numel_out)
    return (wait.seq, wait.op, *sizes)


def odd_ones(waits: Sequence[Wait]) -> list[Wait] | None:
    """Waits that left the common path; all of them when that can't be told; None when all agree.

    Ranks that are further on passed what the others wait in, so only those at the lowest sequence number
    can be compared with each other: a minority there, or a minority that is there while the rest went on.
    """
    if pairwise(waits):
        return None
    known = sorted({_signature(w) for w in waits}, key=lambda kind: sum(part is None for part in kind))
    # a line that was cut off contradicts nothing: it counts for the first kind that it agrees with
    kinds = {w.rank: next(k for k in known if _agree(_signature(w), k)) for w in waits}
    if len(set(kinds.values())) < 2:
        return None
    lowest = min((kind[0] for kind in kinds.values() if kind[0] is not None), default=None)
    behind = [w for w in waits if kinds[w.rank][0] == lowest]
    ahead = [w for w in waits if kinds[w.rank][0] != lowest]
    camps = Counter(kinds[w.rank] for w in behind)
    if len(camps) == 1:
        if 2 * len(behind) == len(waits):
            return list(waits)
        return behind if 2 * len(behind) < len(waits) else ahead
    # where the camps are of one size, what those further on run shows which operation is the usual one
    support = camps
    if len(set(camps.values())) == 1:
        usual = Counter(w.op for w in ahead)
        support = Counter({kind: usual[kind[1]] for kind in camps})
    (common, votes), second = support.most_common(2)[0], support.most_common(2)[1][1]
    if votes == second:
        return list(waits)
    return [w for w in behind if kinds[w.rank] != common]


def aside(job: Job, waits: Sequence[Wait]) -> list[Wait]:
    """Of two camps the one whose stacks show that it was at something beside the steps, such as saving; none where both were."""
    at = {item.rank for item in job.of_fact("beside-steps")}
    camps: dict[tuple[Any, ...], list[Wait]] = {}
    for wait in waits:
        camps.setdefault(_signature(wait), []).append(wait)
    found = [camp for camp in camps.values() if any(w.rank in at for w in camp)]
    return found[0] if len(camps) == 2 and len(found) == 1 else []


def unlike_others(ledger: Ledger, waits: Sequence[Wait]) -> list[Wait]:
    """Of two camps the one whose operation no group of others is in at that number, where some are in that of the other camp."""
    group = waits[0].group
    usual = {
        (w.seq, w.op, w.numel_in, w.numel_out)
        for name, ranks in ledger.waits.items() if name != group for w in ranks.values()
    }  # fmt: skip
    odd = [w for w in waits if (w.seq, w.op, w.numel_in, w.numel_out) not in usual]
    return odd if 0 < len(odd) < len(waits) else []


def contradict(waits: Sequence[Wait]) -> bool:
    """Whether members of a group wait in different operations at one sequence number."""
    return not pairwise(waits) and any(
        a.seq is not None and a.seq == b.seq and not _agree(_signature(a), _signature(b))
        for a in waits
        for b in waits[:1]
    )


def uneven_exchange(job: Job, ledger: Ledger, groups: Sequence[Sequence[Wait]]) -> Item | None:
    """An all-to-all in which more is sent than is expected, or less: somebody's split sizes are wrong.

    That can only be told where all ranks wait, so that all members of each group are known.
    """
    if ledger.identities.world_size is None or not set(ledger.members) <= set(ledger.waiting):
        return None
    for waits in groups:
        if len({(w.seq, w.op) for w in waits}) != 1 or waits[0].op not in ALL_TO_ALL or len(waits) < 2:
            continue
        sent, expected = [w.numel_in for w in waits], [w.numel_out for w in waits]
        if None in sent or None in expected or sum(n or 0 for n in sent) == sum(n or 0 for n in expected):
            continue
        fields: dict[str, Value] = {
            "members": tuple(w.rank for w in waits), "seq": waits[0].seq,
            "sent": sum(n or 0 for n in sent), "expected": sum(n or 0 for n in expected),
        }  # fmt: skip
        return verdict(job, "ledger.uneven-exchange", fields, [w.item for w in waits[:4]])
    return None


def one_sided(job: Job, ledger: Ledger) -> Item | None:
    """All ranks of the job receive and none sends, or the other way round: whom they wait for waits too."""
    waiting = ledger.waiting
    operations = {wait.op for wait in waiting.values()}
    everybody = set(ledger.members) <= waiting.keys() and waiting.keys() == set(range(len(waiting)))
    if len(waiting) < 2 or not everybody or len(operations) != 1 or not operations <= ONE_SIDED.keys():
        return None
    size = ledger.identities.world_size
    if size is not None and size != len(waiting):
        return None
    (operation,) = operations
    waits = [waiting[rank] for rank in sorted(waiting)]
    fields: dict[str, Value] = {
        "members": tuple(w.rank for w in waits), "seq": waits[0].seq, "op": operation,
        "missing": ONE_SIDED[operation or ""],
    }  # fmt: skip
    return verdict(job, "ledger.one-sided", fields, [w.item for w in waits[:4]])


def _agree(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether nothing that is known of two waits differs."""
    return all(a == b for a, b in zip(one, other, strict=True) if a is not None and b is not None)


def _size(wait: Wait) -> str | None:
    if wait.numel_in is None:
        return None
    if wait.numel_out in {None, wait.numel_in}:
        return f"{wait.numel_in} element{'s' if wait.numel_in != 1 else ''}"
    return f"{wait.numel_in} to {wait.numel_out} elements"


def desync(job: Job, waits: Sequence[Wait], odd: list[Wait]) -> Item:
    """The verdict on ranks that left the common path, or on two camps of one size."""
    if len(odd) == len(waits):
        one, two = waits[0], next(w for w in waits if _signature(w) != _signature(waits[0]))
        fields: dict[str, Value] = {
            "seq": one.seq, "rank_a": one.rank, "op_a": one.op, "size_a": _size(one),
            "rank_b": two.rank, "op_b": two.op, "size_b": _size(two),
            "later": f"at sequence {two.seq}" if two.seq != one.seq else None,
            **_sites(job, one.rank, two.rank),
        }  # fmt: skip
        return verdict(job, "ledger.desync-tie", fields, [one.item, two.item])
    others = [w for w in waits if w not in odd]
    rest = next((w for w in others if w.seq == odd[0].seq), others[0])
    level = rest.seq == odd[0].seq
    moved = "had gone on to" if (rest.seq or 0) > (odd[0].seq or 0) else "are still in"
    fields = {
        "ranks": tuple(w.rank for w in odd if _signature(w) == _signature(odd[0])), "seq": odd[0].seq,
        "op_odd": odd[0].op, "size_odd": _size(odd[0]),
        "rest": f"the others entered {rest.op} ({_size(rest) or 'unknown size'})" if level else
        f"the others {moved} {rest.op} (sequence {rest.seq})",
        **_sites(job, odd[0].rank, rest.rank),
    }  # fmt: skip
    return verdict(job, "ledger.desync", fields, [*(w.item for w in odd[:2]), rest.item], rank=odd[0].rank)


def _sites(job: Job, odd: int, rest: int) -> dict[str, Value]:
    """The two calls to compare; one place that both call from, a wrapper of a library, tells nothing."""
    here, there = _site(job, odd), _site(job, rest)
    return {} if here == there else {"site_odd": here, "site_rest": there}


def _site(job: Job, rank: int) -> str | None:
    """Where ``rank`` called the collective that it waits in, from the watchdog's stack trace."""
    for item in job.of_fact("call-site"):
        if item.rank == rank:
            return f"{item.text('function')} at {item.text('file')}:{item.text('line')}"
    return None
