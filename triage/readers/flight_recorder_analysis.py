"""What the dumps of all ranks say together: one verdict per stuck process group, causes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from triage.readers.flight_recorder_job import Key, Recorded, assemble
from triage.readers.flight_recorder_mismatch import Mismatch, first_mismatch
from triage.readers.flight_recorder_model import Dump, Group, Operation
from triage.readers.flight_recorder_waits import Root, Wait, all_waits, roots, standing

Kind = Literal[
    "operation-mismatch", "size-mismatch", "missing", "silent", "lagging", "all-inside",
    "unmatched-message", "order", "extra", "waiting",
]  # fmt: skip
"""What is wrong in a group: ranks ran different operations, or one with different sizes · a rank never
enqueued what others wait in · a rank left no dump · a rank enqueued it but did not start or finish it, or
came too late · everybody is inside · a send and a receive don't meet · ranks enter two groups in different
orders · a minority is alone in a collective · nothing: its members wait for another group."""


@dataclass(frozen=True, slots=True)
class Witness:
    """What a rank recorded that bears on a verdict; ``operation`` is None when it recorded nothing."""

    rank: int
    operation: Operation | None


@dataclass(frozen=True, slots=True)
class GroupVerdict:
    """What is wrong in one process group, or in the knot that begins in it.

    ``ranks`` are the culprits, empty when the dumps don't tell; ``waiting`` are the ranks blocked in
    ``operation``; ``blocked`` counts the other ranks that wait for the culprits in the end. Only
    verdicts with ``cause`` can have started the hang; the others wait for it.
    """

    kind: Kind
    group: Group
    operation: Operation
    ranks: tuple[int, ...]
    waiting: tuple[int, ...]
    blocked: int
    cause: bool
    how: str
    culprits: tuple[Witness, ...] = ()
    victims: tuple[Witness, ...] = ()
    finished: tuple[int, ...] = ()
    """Members that completed ``operation``."""
    odd: str | None = None
    """What the culprits ran, where ranks differ."""
    rest: str | None = None
    """What the others ran."""


def analyse(dumps: Sequence[Dump]) -> tuple[GroupVerdict, ...]:
    """Verdicts over the dumps of one job, the most likely first cause first."""
    return judge(assemble(dumps))


def judge(job: Recorded) -> tuple[GroupVerdict, ...]:
    """As :func:`analyse`, for dumps that have been put side by side."""
    mismatches = [m for key in job.groups if (m := first_mismatch(job, key)) and _counts(job, m)]
    if mismatches:
        verdicts = [_of_mismatch(job, min(mismatches, key=lambda m: (m.created, m.seq)))]
    else:
        verdicts = _merged([v for root in roots(job) if (v := _of_root(job, root)) is not None])
    told = {_place(verdict) for verdict in verdicts}
    for wait in all_waits(job):
        how = "its members wait for another group" if wait.reason == "behind" else wait.reason
        verdict = _verdict(job, "waiting", wait, (), len(wait.waiting), how)
        if _place(verdict) not in told:
            verdicts.append(verdict)
    return tuple(verdicts)


def _merged(verdicts: Sequence[GroupVerdict]) -> list[GroupVerdict]:
    """Ranks that stopped in the same way in different groups share a cause more often than not."""
    kept: list[GroupVerdict] = []
    for verdict in verdicts:
        for at, held in enumerate(kept):
            if verdict.kind == "lagging" and (held.kind, held.how) == (verdict.kind, verdict.how):
                kept[at] = replace(
                    held,
                    ranks=tuple(sorted({*held.ranks, *verdict.ranks})),
                    blocked=max(held.blocked, verdict.blocked) - len(set(verdict.ranks) - set(held.ranks)),
                    culprits=tuple(sorted({*held.culprits, *verdict.culprits}, key=lambda w: w.rank)),
                )
                break
        else:
            kept.append(verdict)
    # a rank without a dump may be a victim like the others: it is blamed only when nothing is proven
    proven = [verdict for verdict in kept if verdict.kind not in {"silent", "all-inside"}]
    return proven or [verdict for verdict in kept if verdict.kind == "silent"] or kept


def _place(verdict: GroupVerdict) -> tuple[str, tuple[int, ...], int, bool]:
    group, operation = verdict.group, verdict.operation
    return (group.guid, group.ranks, operation.seq, operation.p2p)


def _counts(job: Recorded, mismatch: Mismatch) -> bool:
    """Can this mismatch have stopped the job: is anything stuck, and is a member not stuck before it?"""
    if not job.blocks:
        return mismatch.what == "operation"
    for camp in mismatch.camps:
        for rank in camp.ranks:
            block = job.blocks.get(rank)
            ops = job.calls[mismatch.key][rank][mismatch.seq]
            if block is None or ops[0].record <= block.first.record:
                return True
    return False


def _of_mismatch(job: Recorded, mismatch: Mismatch) -> GroupVerdict:
    group = job.groups[mismatch.key]
    usual, other = mismatch.camps[0], mismatch.camps[-1]
    waiting = tuple(rank for rank, block in job.blocks.items() if block.key == mismatch.key)
    culprits = mismatch.odd or tuple(sorted(rank for camp in mismatch.camps for rank in camp.ranks))[:4]
    calls = job.calls[mismatch.key]
    return GroupVerdict(
        kind="operation-mismatch" if mismatch.what == "operation" else "size-mismatch",
        group=group, operation=usual.calls[0], ranks=mismatch.odd, waiting=waiting,
        blocked=len(set(job.blocks).difference(mismatch.odd)), cause=True, how=mismatch.what,
        culprits=tuple(Witness(rank, calls[rank][mismatch.seq][0]) for rank in culprits),
        victims=tuple(
            Witness(rank, usual.calls[0]) for rank in usual.ranks if rank not in culprits
        )[:3],
        odd=_described(other.calls, mismatch.what), rest=_described(usual.calls, mismatch.what),
    )  # fmt: skip


def _described(calls: Sequence[Operation], what: str) -> str:
    names = " + ".join(op.name for op in calls)
    if what == "operation":
        return names
    if what == "type":
        return f"{names} of {', '.join(sorted({t for op in calls for t in op.types_in}))}"
    into = sum(op.numel_in for op in calls)
    out = sum(op.numel_out for op in calls)
    if into != out:
        return f"{names} of {into} to {out} elements"
    return f"{names} of {into} element{'s' if into != 1 else ''}"


def _of_root(job: Recorded, root: Root) -> GroupVerdict | None:
    if root.knot:
        return _of_knot(job, root)
    # many ranks in one collective show it better than one in a send
    main = max(root.waits, key=lambda w: (len(w.waiting), -(w.operation.created or 0)))
    group = job.groups[main.key]
    if root.ranks[0] not in job.dumps:
        return _verdict(job, "silent", main, root.ranks, root.reach, "left no usable dump")
    if main.key in job.inferred and len(root.ranks) > 1:
        return _verdict(job, "missing", main, (), root.reach, "the dumps don't say who belongs to the group")
    absent, waiting = len(root.ranks), len(main.waiting)
    alone = root.reach == absent + waiting and set(root.ranks) <= set(group.ranks)
    if alone and absent > waiting and absent + waiting > 2 and not main.operation.p2p:
        return _verdict(job, "extra", main, main.waiting, root.reach, "nobody else entered it")
    return _verdict(job, "missing", main, root.ranks, root.reach, "never enqueued it")


def _of_knot(job: Recorded, root: Root) -> GroupVerdict | None:
    absent = [wait for wait in root.waits if wait.reason == "absent"]
    if absent:
        main = _main(absent)
        kind: Kind = "unmatched-message" if main.operation.p2p else "order"
        return _verdict(job, kind, main, _astray(root, absent), root.reach, "went on without it")
    unmatched = [wait for wait in root.waits if wait.mismatched]
    if unmatched:
        return _verdict(job, "unmatched-message", _main(unmatched), (), root.reach, "sizes differ")
    for reason, how in (
        ("unfinished", "did not finish what others finished"),
        ("unstarted", "did not start what others started"),
        ("late", "came when the timeout was nearly over"),
    ):
        behind = [wait for wait in root.waits if wait.reason == reason]
        if behind:
            ranks = tuple(sorted({rank for wait in behind for rank in wait.blamed}))
            return _verdict(job, "lagging", _main(behind), ranks, root.reach, how)
    inside = [wait for wait in root.waits if wait.reason == "inside"]
    return _verdict(job, "all-inside", _main(inside), (), root.reach, "nobody is missing") if inside else None


def _astray(root: Root, absent: Sequence[Wait]) -> tuple[int, ...]:
    """Who of a knot left the common path, empty when that can't be told.

    It is the one that several others, together, miss in a collective; else the one that reached a
    collective without an exchange that its partner has before it. Where there are only messages, one side
    sent too few or the other expects too many.
    """
    collectives = [wait for wait in root.waits if not wait.operation.p2p]
    together = [wait for wait in absent if wait in collectives and len(wait.waiting) > 1]
    if not collectives:
        return ()
    missed = {rank for wait in together or absent for rank in wait.blamed if rank in root.ranks}
    return tuple(missed) if len(missed) == 1 else ()


def _main(waits: Sequence[Wait]) -> Wait:
    """The wait that began first stands for the others."""
    return min(waits, key=lambda w: (w.operation.created or 0, w.key, w.operation.seq))


def _verdict(
    job: Recorded, kind: Kind, wait: Wait, ranks: tuple[int, ...], blocked: int, how: str
) -> GroupVerdict:
    return GroupVerdict(
        kind=kind, group=job.groups[wait.key], operation=wait.operation, ranks=ranks, waiting=wait.waiting,
        blocked=max(0, blocked - len(ranks)), cause=kind != "waiting", how=how,
        culprits=tuple(Witness(rank, _latest(job, rank, wait.key)) for rank in ranks[:4]),
        victims=_blocked(job, [rank for rank in wait.waiting if rank not in ranks]),
        finished=() if wait.operation.p2p else tuple(
            rank for rank in job.groups[wait.key].ranks
            if standing(job, wait.key, wait.operation, rank) == "finished"
        ),
    )  # fmt: skip


def _latest(job: Recorded, rank: int, key: Key) -> Operation | None:
    """What a rank is blocked in, else what it issued last."""
    block = job.blocks.get(rank)
    if block is not None:
        return block.first
    dump = job.dumps.get(rank)
    return dump.operations[-1] if dump is not None and dump.operations else None


def _blocked(job: Recorded, ranks: Sequence[int]) -> tuple[Witness, ...]:
    return tuple(Witness(rank, job.blocks[rank].first) for rank in ranks[:3] if rank in job.blocks)
