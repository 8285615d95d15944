"""Who waits for whom: from what each rank is blocked in to the ranks at the end of the chain.

A rank is blocked in its oldest operation that has not completed. It waits for the members of that
operation's group that never enqueued it; if all did, for those that are still blocked in something
older; if nobody is, for those whose kernel did not start although others did, or that did not finish
what others finished. Following this from rank to rank ends at the ranks that wait for nobody, or in a
knot of ranks that wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from triage.readers.flight_recorder_graph import callers_of, components, reach
from triage.readers.flight_recorder_job import Block, Key, Recorded
from triage.readers.flight_recorder_model import Operation

Reason = Literal["absent", "silent", "behind", "unfinished", "unstarted", "late", "inside", "unknown"]
"""Why somebody is waited for: never enqueued it · left no dump · blocked in something older · did not
finish what others finished · did not start what others started · came when the others had given up ·
nobody is missing · the dumps don't tell."""

LATE_FRACTION = 0.8
"""Of the timeout: a rank that enqueues later than this after the first is what the others waited for."""
LATE_AT_LEAST = 5 * 10**9
"""Nanoseconds; below this, a difference may be the clocks'."""

Standing = Literal["absent", "silent", "finished", "inside", "unknown"]

Unit = tuple[str, Key, int, int]
"""Identity of what a rank is blocked in: a collective, or one rank's batch of sends and receives."""
Node = int | Unit


@dataclass(frozen=True, slots=True)
class Wait:
    """One thing that ranks are blocked in, and whom they wait for."""

    key: Key
    operation: Operation
    waiting: tuple[int, ...]
    reason: Reason
    blamed: tuple[int, ...]
    mismatched: bool = False
    """A send and its receive meet, but with different sizes."""


@dataclass(frozen=True, slots=True)
class Root:
    """The end of a chain of waits: ``ranks`` wait for nobody, or only for each other.

    ``waits`` are the things that wait for them, the ones of a knot first; ``reach`` is the number of
    ranks that wait for it in the end.
    """

    ranks: tuple[int, ...]
    waits: tuple[Wait, ...]
    knot: bool
    reach: int


def roots(job: Recorded) -> tuple[Root, ...]:
    """The ends of all chains, the one that most ranks wait for first."""
    units: dict[Unit, list[int]] = {}
    for rank, block in job.blocks.items():
        units.setdefault(_unit(block), []).append(rank)
    waits = {unit: _wait(job, unit, ranks) for unit, ranks in units.items()}
    edges: dict[Node, tuple[Node, ...]] = {}
    for unit, wait in waits.items():
        edges[unit] = wait.blamed
        for rank in wait.waiting:
            edges[rank] = (unit,)
        for rank in wait.blamed:
            edges.setdefault(rank, ())
    parts = components(edges)
    where = {node: number for number, nodes in enumerate(parts) for node in nodes}
    callers = callers_of(edges)
    found: list[Root] = []
    ends: dict[bool, list[int]] = {}
    for number, nodes in enumerate(parts):
        if any(where[target] != number for node in nodes for target in edges[node]):
            continue
        own = [waits[node] for node in nodes if isinstance(node, tuple)]
        ranks = sorted(node for node in nodes if isinstance(node, int))
        if own:
            found.append(Root(tuple(ranks), tuple(own), True, _count(nodes, callers)))
        else:
            ends.setdefault(ranks[0] in job.dumps, []).extend(ranks)
    for together in ends.values():
        # several ranks that wait for nobody share a cause more often than not: a node, a branch
        blamed = set(together)
        pointing = tuple(wait for wait in waits.values() if not blamed.isdisjoint(wait.blamed))
        found.append(Root(tuple(sorted(together)), pointing, False, _count(together, callers)))
    return tuple(sorted(found, key=lambda root: (-root.reach, root.knot, root.ranks)))


def all_waits(job: Recorded) -> tuple[Wait, ...]:
    """Everything that ranks are blocked in, by group and sequence number."""
    units: dict[Unit, list[int]] = {}
    for rank, block in job.blocks.items():
        units.setdefault(_unit(block), []).append(rank)
    return tuple(_wait(job, unit, ranks) for unit, ranks in sorted(units.items()))


def _unit(block: Block) -> Unit:
    first = block.first
    if first.p2p:
        return ("p2p", block.key, first.batch, block.rank)
    return ("collective", block.key, first.seq, -1)


def _wait(job: Recorded, unit: Unit, ranks: Sequence[int]) -> Wait:
    waiting = tuple(sorted(ranks))
    block = job.blocks[waiting[0]]
    if unit[0] == "p2p":
        reason, blamed, mismatched = _for_message(job, block)
        return Wait(block.key, block.first, waiting, reason, blamed, mismatched)
    reason, blamed = _for_collective(job, block.key, block.first, waiting)
    return Wait(block.key, block.first, waiting, reason, blamed)


def _for_collective(
    job: Recorded, key: Key, operation: Operation, waiting: tuple[int, ...]
) -> tuple[Reason, tuple[int, ...]]:
    absent: list[int] = []
    behind: list[int] = []
    silent: list[int] = []
    finished: list[int] = []
    inside: list[int] = []
    for rank in job.groups[key].ranks:
        stands = standing(job, key, operation, rank)
        if stands == "absent":
            absent.append(rank)
        elif stands == "silent":
            silent.append(rank)
        elif stands == "finished":
            finished.append(rank)
        elif rank in waiting:
            inside.append(rank)
        elif rank in job.blocks:
            behind.append(rank)
    if absent:
        return "absent", tuple(absent)
    if behind:
        return "behind", tuple(behind)
    if finished and len(inside) <= len(finished):
        return "unfinished", tuple(inside)
    if silent:
        return ("silent", tuple(silent)) if len(job.silent) <= len(job.dumps) else ("unknown", ())
    return _among_equals(job, key, operation, inside)


def standing(job: Recorded, key: Key, operation: Operation, rank: int) -> Standing:
    """How ``rank`` stands to a collective of the group ``key``."""
    dump = job.dumps.get(rank)
    if dump is None:
        return "silent"
    calls = job.calls.get(key, {}).get(rank, {})
    mine = calls.get(operation.seq)
    if mine is not None:
        return "finished" if all(op.done for op in mine) else "inside"
    if dump.complete and not dump.wrapped:
        return "absent"
    # the operation may be one that the dump leaves out: ask the counters, then the times
    progress = dump.progress.get(key[0])
    if progress is not None and progress.enqueued is not None and key not in job.messages:
        if progress.enqueued < operation.seq:
            return "absent"
        return "finished" if dump.complete else "unknown"
    if not dump.complete:
        return "silent"
    if calls:
        return "finished" if operation.seq < min(calls) else "absent"
    begin = dump.first_time
    if begin is None or operation.created is None or operation.created >= begin:
        return "absent"
    return "finished" if dump.active_only else "unknown"


def _among_equals(
    job: Recorded, key: Key, operation: Operation, inside: Sequence[int]
) -> tuple[Reason, tuple[int, ...]]:
    """Everybody is blocked in the same collective: did somebody's kernel not start, or come too late?"""
    calls = {rank: job.calls[key][rank][operation.seq] for rank in inside}
    if all(job.dumps[rank].timed for rank in inside):
        unstarted = [rank for rank, ops in calls.items() if all(op.state == "scheduled" for op in ops)]
        if 0 < len(unstarted) < len(inside):
            return "unstarted", tuple(unstarted)
    created = {rank: time for rank, ops in calls.items() if (time := ops[0].created) is not None}
    if len(created) > 1:
        first = min(created.values())
        after = max(LATE_AT_LEAST, LATE_FRACTION * (operation.timeout or 600.0) * 1e9)
        late = [rank for rank, time in created.items() if time - first > after]
        if late and len(late) < len(created):
            return "late", tuple(late)
    return "inside", tuple(inside)


def _for_message(job: Recorded, block: Block) -> tuple[Reason, tuple[int, ...], bool]:
    """Whom a batch of sends and receives waits for."""
    ranks = job.groups[block.key].ranks
    found: dict[Reason, set[int]] = {"absent": set(), "behind": set(), "silent": set(), "inside": set()}
    mismatched = False
    for operation in block.operations:
        peer = _peer(operation, ranks, block.rank)
        if peer is None:
            continue
        if peer not in job.dumps or not job.dumps[peer].complete:
            found["silent"].add(peer)
            continue
        counterpart = _counterpart(job, block, operation, peer)
        if counterpart is None:
            found["absent"].add(peer)
            continue
        mine, theirs = (operation, counterpart) if operation.name == "send" else (counterpart, operation)
        if mine.numel_in != theirs.numel_out:
            mismatched = True
        if counterpart.done:
            continue
        other = job.blocks.get(peer)
        here = other is not None and other.key == block.key and counterpart in other.operations
        found["inside" if here else "behind"].add(peer)
    for reason, blamed in found.items():
        if blamed:
            if reason == "silent" and len(job.silent) > len(job.dumps):
                return "unknown", (), mismatched
            if reason == "inside":
                blamed.add(block.rank)
            return reason, tuple(sorted(blamed)), mismatched
    return "unfinished", (block.rank,), mismatched


def _peer(operation: Operation, ranks: Sequence[int], own: int) -> int | None:
    ends = (operation.sender, operation.receiver)
    members = [ranks[end] for end in ends if end is not None and end < len(ranks)]
    if len(members) != 2 or own not in members:
        return None
    return members[1] if members[0] == own else members[0]


def _counterpart(job: Recorded, block: Block, operation: Operation, peer: int) -> Operation | None:
    """The receive that belongs to a send, or the other way round: the n-th of a pair meets the n-th."""
    line = (operation.sender, operation.receiver)
    other = "recv" if operation.name == "send" else "send"
    mine = job.messages[block.key][block.rank].get((operation.name, *line), ())
    theirs = job.messages[block.key].get(peer, {}).get((other, *line), ())
    if not job.dumps[block.rank].wrapped and not job.dumps[peer].wrapped:
        position = next(i for i, op in enumerate(mine) if op is operation)
        return theirs[position] if position < len(theirs) else None
    # how many came before is unknown; but what is open on both sides pairs up from the first open one
    position = sum(1 for op in block.operations if not op.done and op.record < operation.record and
                   (op.name, op.sender, op.receiver) == (operation.name, *line))  # fmt: skip
    waiting = (op for op in theirs if not op.done)
    return next(islice(waiting, position, None), None)


def _count(nodes: Iterable[Node], callers: Mapping[Node, Iterable[Node]]) -> int:
    """How many ranks are blocked by ``nodes`` in the end, those among them included."""
    return sum(1 for node in reach(nodes, callers) if isinstance(node, int))
