"""The dumps of one job side by side: which rank recorded what in which process group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from triage.readers.flight_recorder_model import Dump, Group, Operation

Key = tuple[str, tuple[int, ...]]
"""Identity of a group across ranks. The name alone won't do: split groups share one."""
Line = tuple[str, int | None, int | None]
"""``send`` or ``recv``, and the positions of the sender and the receiver in the group."""
Calls = Mapping[int, Sequence[Operation]]
"""A rank's collectives in one group by sequence number; coalesced ones share a number."""

STALE_AFTER = 3600 * 10**9
"""Nanoseconds between a dump's last operation and the others' first that make it an older job's."""
MAX_BATCH = 256
"""Operations of one batch that are looked at."""
DEFAULT_GROUPS = frozenset({"default_pg"})


@dataclass(frozen=True, slots=True)
class Block:
    """What a rank is blocked in: its oldest operation that has not completed, with its batch."""

    rank: int
    key: Key
    operations: tuple[Operation, ...]

    @property
    def first(self) -> Operation:
        """The operation that stands for the batch."""
        return self.operations[0]


@dataclass(slots=True)
class Recorded:
    """What all dumps say, by group and rank."""

    dumps: dict[int, Dump] = field(default_factory=dict)
    world: tuple[int, ...] = ()
    groups: dict[Key, Group] = field(default_factory=dict)
    inferred: set[Key] = field(default_factory=set)
    """Groups whose members no dump states; their ranks are guessed from who used them."""
    calls: dict[Key, dict[int, Calls]] = field(default_factory=dict)
    messages: dict[Key, dict[int, dict[Line, list[Operation]]]] = field(default_factory=dict)
    """Sends and receives by direction."""
    blocks: dict[int, Block] = field(default_factory=dict)
    keys: dict[tuple[int, str], Key] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def silent(self) -> tuple[int, ...]:
        """Ranks that should exist and left no dump."""
        return tuple(rank for rank in self.world if rank not in self.dumps)


def assemble(dumps: Sequence[Dump]) -> Recorded:
    """Put the dumps of a job side by side, one per rank, without strays of an older job."""
    job = Recorded()
    for dump in _current(dumps, job.notes):
        if dump.rank is None:
            job.notes.append(f"{dump.name}: left out, neither its name nor its groups tell its rank")
            continue
        held, latest = job.dumps.get(dump.rank), dump
        if held is not None:
            latest = max(held, dump, key=lambda d: (d.complete, d.last_time or 0))
            job.notes.append(f"rank {dump.rank} left two dumps; {latest.name} is the later one and counts")
        job.dumps[dump.rank] = latest
    job.dumps = dict(sorted(job.dumps.items()))
    _name_groups(job)
    for rank, dump in job.dumps.items():
        _index(job, rank, dump)
    _infer_members(job)
    known = set(job.dumps)
    for key, group in job.groups.items():
        if key not in job.inferred:
            known.update(group.ranks)
    job.world = tuple(sorted(known))
    return job


def _current(dumps: Sequence[Dump], notes: list[str]) -> list[Dump]:
    """The dumps of the latest job: those whose times reach within an hour of each other's."""
    kept = [dump for dump in dumps if dump.last_time is None]
    begin: int | None = None
    for last, dump in sorted(
        ((last, dump) for dump in dumps if (last := dump.last_time) is not None),
        key=lambda entry: (-entry[0], entry[1].name),
    ):
        if begin is not None and begin - last > STALE_AFTER:
            notes.append(f"{dump.name}: left out, it ends an hour or more before the others begin")
            continue
        kept.append(dump)
        begin = min(begin or last, dump.first_time or last)
    return kept


def _name_groups(job: Recorded) -> None:
    members: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    for dump in job.dumps.values():
        for group in dump.groups.values():
            if group.ranks:
                members[group.guid].add(group.ranks)
    for rank, dump in job.dumps.items():
        for group in dump.groups.values():
            ranks = group.ranks
            if not ranks and len(members[group.guid]) == 1:
                ranks = next(iter(members[group.guid]))
            key = (group.guid, ranks)
            job.keys[rank, group.guid] = key
            held = job.groups.get(key)
            if held is None or (not held.desc and group.desc):
                job.groups[key] = replace(group, ranks=ranks)


def _index(job: Recorded, rank: int, dump: Dump) -> None:
    calls: dict[Key, dict[int, list[Operation]]] = defaultdict(dict)
    messages: dict[Key, dict[Line, list[Operation]]] = defaultdict(dict)
    blocking: Operation | None = None
    for operation in dump.operations:
        key = job.keys[rank, operation.guid]
        if operation.p2p:
            line = (operation.name, operation.sender, operation.receiver)
            messages[key].setdefault(line, []).append(operation)
        else:
            calls[key].setdefault(operation.seq, []).append(operation)
        if blocking is None and not operation.done:
            blocking = operation
    for key, by_seq in calls.items():
        job.calls.setdefault(key, {})[rank] = by_seq
    for key, lines in messages.items():
        job.messages.setdefault(key, {})[rank] = lines
    if blocking is not None and dump.complete:
        key = job.keys[rank, blocking.guid]
        batch = _batch(dump, blocking) if blocking.p2p else calls[key][blocking.seq]
        job.blocks[rank] = Block(rank, key, tuple(batch[:MAX_BATCH]))


def _batch(dump: Dump, first: Operation) -> list[Operation]:
    """What was issued together with a send or receive and has not completed either."""
    same = (
        op for op in dump.operations
        if op.p2p and op.guid == first.guid and op.batch == first.batch and not op.done
    )  # fmt: skip
    return list(islice(same, MAX_BATCH))


def _infer_members(job: Recorded) -> None:
    """Guess the members of groups that no dump describes: those who used it, or else everybody."""
    for key, group in list(job.groups.items()):
        if group.ranks:
            continue
        users = set(job.calls.get(key, ())) | set(job.messages.get(key, ()))
        if len(users) < 2 or group.desc in DEFAULT_GROUPS:
            users = set(job.dumps)
        job.groups[key] = replace(group, ranks=tuple(sorted(users)))
        job.inferred.add(key)
