"""Ranks that ran different collectives, or different sizes, under the same sequence number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from triage.readers.flight_recorder_job import Key, Recorded
from triage.readers.flight_recorder_model import Operation

What = Literal["operation", "size", "type"]

_SAME = {"_broadcast_oop": "broadcast", "_reduce_oop": "reduce", "barrier": "all_reduce_barrier"}
"""Names of one collective that ranks may record differently."""
_INPUT_FREE = frozenset({"scatter"})
_OUTPUT_FREE = frozenset({"gather", "reduce"})
_UNEVEN = ("all_to_all", "alltoall", "_v", "_v_single", "split", "new_window", "barrier")
"""Parts of names whose sizes may differ from rank to rank."""


@dataclass(frozen=True, slots=True)
class Camp:
    """Ranks that agree with each other, and what each of them recorded."""

    ranks: tuple[int, ...]
    calls: Sequence[Operation]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A sequence number under which the members of a group differ.

    ``odd`` are the ranks outside of the majority, or those that differ from the sister groups; empty
    when that doesn't tell. ``camps`` are ordered by size, the odd ones last. ``created`` is when the last
    member had joined, in nanoseconds.
    """

    key: Key
    seq: int
    what: What
    camps: tuple[Camp, ...]
    odd: tuple[int, ...]
    created: int


def first_mismatch(job: Recorded, key: Key) -> Mismatch | None:
    """The earliest mismatch of a group, None when all members agree as far as they can be compared."""
    by_rank = job.calls.get(key, {})
    if len(by_rank) < 2:
        return None
    numbers = Counter(seq for calls in by_rank.values() for seq in calls)
    for seq in sorted(number for number, count in numbers.items() if count > 1):
        calls = {rank: by_rank[rank][seq] for rank in by_rank if seq in by_rank[rank]}
        if _alike(list(calls.values())):
            continue
        for what, describe in (("operation", _names), ("size", _sizes), ("type", _types)):
            kinds: dict[object, list[int]] = {}
            for rank, ops in calls.items():
                kinds.setdefault(describe(ops), []).append(rank)
            if len(kinds) > 1:
                return _mismatch(job, key, seq, what, calls, kinds)  # type: ignore[arg-type]
    return None


def _alike(calls: Sequence[Sequence[Operation]]) -> bool:
    """The usual case, quickly: one operation, with the same everything on all ranks."""
    first = calls[0][0]
    return all(
        len(ops) == 1
        and ops[0].name == first.name
        and ops[0].numel_in == first.numel_in
        and ops[0].numel_out == first.numel_out
        and ops[0].types_in == first.types_in
        and ops[0].types_out == first.types_out
        for ops in calls
    )


def _mismatch(
    job: Recorded,
    key: Key,
    seq: int,
    what: What,
    calls: Mapping[int, Sequence[Operation]],
    kinds: Mapping[object, Sequence[int]],
) -> Mismatch:
    order = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[1][0]))
    usual: object | None = None
    if len(order[0][1]) > len(order[1][1]):
        usual = order[0][0]
    else:
        tied = {kind for kind, ranks in order if len(ranks) == len(order[0][1])}
        usual = _of_sisters(job, key, seq, what, tied)
    odd: tuple[int, ...] = ()
    if usual is not None:
        order.sort(key=lambda item: item[0] != usual)
        odd = tuple(sorted(rank for kind, ranks in order if kind != usual for rank in ranks))
    camps = tuple(Camp(tuple(sorted(ranks)), calls[ranks[0]]) for _, ranks in order)
    times = [op.created for ops in calls.values() for op in ops if op.created is not None]
    return Mismatch(key, seq, what, camps, odd, max(times, default=0))


def _of_sisters(job: Recorded, key: Key, seq: int, what: What, tied: set[object]) -> object | None:
    """What the groups of the same kind did under this number, when all that did one of ``tied`` agree."""
    describe = {"operation": _names, "size": _sizes, "type": _types}[what]
    mine = job.groups[key]
    votes: set[object] = set()
    for other, by_rank in job.calls.items():
        sister = job.groups[other]
        if other == key or sister.desc != mine.desc or len(sister.ranks) != len(mine.ranks):
            continue
        votes.update(describe(calls[seq]) for calls in by_rank.values() if seq in calls)
    common = votes & tied
    return next(iter(common)) if len(common) == 1 else None


def _names(operations: Sequence[Operation]) -> object:
    return tuple(sorted({_SAME.get(op.name, op.name) for op in operations}))


def _sizes(operations: Sequence[Operation]) -> object:
    return tuple(
        (
            None if op.name in _INPUT_FREE else op.numel_in,
            None if op.name in _OUTPUT_FREE else op.numel_out,
        )
        for op in operations
        if not _uneven(op)
    )


def _types(operations: Sequence[Operation]) -> object:
    return tuple(
        (
            None if op.name in _INPUT_FREE else op.types_in,
            None if op.name in _OUTPUT_FREE else op.types_out,
        )
        for op in operations
        if not _uneven(op)
    )


def _uneven(operation: Operation) -> bool:
    name = operation.name
    return any(part in name if not part.startswith("_") else name.endswith(part) for part in _UNEVEN)
