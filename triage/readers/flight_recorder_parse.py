"""From the plain data of a dump to a :class:`Dump`: every version's keys, pickle and JSON alike.

Versions: a bare list (torch 2.2), ``1.x`` and ``2.x`` up to ``2.10`` (torch 2.3 to 2.15). JSON writes
numbers as text in places, 0 for an unknown time, and leaves ``entries`` out when there are none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from triage.readers.flight_recorder_model import Dump, Group, Operation, Progress, State
from triage.readers.flight_recorder_values import Shared, integer, items, ranks, text

MAX_OPERATIONS = 250_000
"""Operations of one dump that are read, the latest; the recorder's default buffer holds 2,000."""

_NAME = re.compile(r"(?:(\w+):)?(\S+)(?: (\d{1,7})(->|<-)(\d{1,7}))?$")
_RANK = re.compile(r"rank[_.-]?(\d{1,7})", re.IGNORECASE)
_TRAILING = re.compile(r"(\d{1,7})$")
_SUFFIX = re.compile(r"(?<=.)\.(?:json|pickle|pkl|pt|bin|dump|trace|txt|gz|xz|zst|bz2)$", re.IGNORECASE)
_KERNEL_BACKENDS = frozenset({"nccl", "rccl", "xccl", "hccl", "mccl", "bccl", "cncl", "eccl"})
"""Backends whose operations run as kernels: only their events say that one completed."""


def rank_of_name(name: str) -> int | None:
    """The rank that a dump's file name states: ``nccl_trace_rank_3``, ``_dump_12``, ``fr_0.json``."""
    base = re.split(r"[/\\]", name)[-1]
    while (shorter := _SUFFIX.sub("", base)) != base:
        base = shorter
    found = _RANK.findall(base) or _TRAILING.findall(base)
    return int(found[-1]) if found else None


def is_dump(value: object) -> bool:
    """Does this plain value have the shape of a dump?"""
    if isinstance(value, dict):
        return "pg_config" in value or "pg_status" in value or _is_entries(value.get("entries"))
    return _is_entries(value)


def _is_entries(value: object) -> bool:
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return False
    return "profiling_name" in value[0] and "state" in value[0]


def parse_dump(value: object, name: str, rank: int | None = None, complete: bool = True) -> Dump:
    """The dump that ``value`` holds; without ``rank``, the file's name tells it, or else the groups."""
    top: Mapping[str, object] = value if isinstance(value, dict) else {"entries": value}
    groups = _groups(top.get("pg_config"))
    records = items(top.get("entries"))
    wrapped = len(records) > MAX_OPERATIONS
    by_id = _statuses(top.get("pg_status"))
    operations: list[Operation] = []
    ids: dict[int, str] = {}
    timed = stacks = False
    reader = _Reader()
    for position, record in enumerate(records[-MAX_OPERATIONS:]):
        if not isinstance(record, dict):
            continue
        operation, desc = reader.operation(record, position)
        if operation is None:
            continue
        operations.append(operation)
        pg_id = integer(record.get("pg_id"))
        if pg_id is not None:
            ids.setdefault(pg_id, operation.guid)
        known = groups.get(operation.guid)
        if known is None:
            groups[operation.guid] = Group(operation.guid, desc)
        elif desc and not known.desc:
            groups[operation.guid] = replace(known, desc=desc)
        timed = (
            timed or bool(integer(record.get("time_discovered_started_ns"))) or operation.state == "started"
        )
        stacks = stacks or bool(record.get("frames"))
    if all(operation.guid for operation in operations):
        _name_the_nameless(groups)
    names = _guids_by_id(by_id, ids, groups)
    progress = {names[pg_id]: status for pg_id, status in by_id.items() if pg_id in names}
    wrapped = wrapped or bool(operations and operations[0].record > 0)
    active_only = not any(op.done for op in operations) and (
        wrapped if operations else any((status.enqueued or 0) > 0 for status in by_id.values())
    )
    if rank is None:
        rank = rank_of_name(name)
    if rank is None:
        rank = _rank_of_groups(groups, operations)
    return Dump(
        name=name, rank=rank, version=text(top.get("version")),
        library=text(top.get("comm_lib_version") or top.get("nccl_version")), groups=groups,
        progress=progress, operations=tuple(settle(operations)), wrapped=wrapped or active_only,
        active_only=active_only, timed=timed,
        stacks=stacks, complete=complete,
    )  # fmt: skip


def settle(operations: Sequence[Operation]) -> list[Operation]:
    """The operations with their true states, without the markers that end a batch.

    Sends and receives that were issued as a batch have no events of their own and stay ``scheduled``
    for good; the ``coalesced`` marker that follows them has the batch's state. After a batch of
    collectives the marker means nothing unless the recorder left the collectives out. Work of one
    group runs in order, so what precedes completed work has completed too.
    """
    kept: list[Operation] = []
    settled = 0  # what a marker has ended belongs to no later one
    for operation in operations:
        if operation.name != "coalesced":
            kept.append(operation)
            continue
        members = 0
        for back in range(len(kept) - 1, settled - 1, -1):
            member = kept[back]
            same = member.batch == operation.batch if member.p2p else member.seq == operation.seq
            if member.guid != operation.guid or not same or member.p2p != kept[-1].p2p:
                break
            members += 1
            if not member.name.endswith("_coalesced"):
                kept[back] = replace(member, state=operation.state, retired=operation.retired)
        if not members:
            kept.append(operation)
        settled = len(kept)
    finished: set[tuple[object, ...]] = set()
    for back in range(len(kept) - 1, -1, -1):
        operation = kept[back]
        line = (operation.guid, *_pair(operation))
        if operation.done:
            finished.add(line)
        elif line in finished:
            kept[back] = replace(operation, state="completed")
    return kept


def _pair(operation: Operation) -> tuple[int, ...]:
    if not operation.p2p or operation.sender is None or operation.receiver is None:
        return ()
    return (min(operation.sender, operation.receiver), max(operation.sender, operation.receiver))


class _Reader:
    """Makes operations of records; what recurs in them is made once."""

    def __init__(self) -> None:
        self.shared = Shared()
        self.names: dict[str, re.Match[str] | None] = {}

    def operation(self, record: Mapping[str, object], position: int) -> tuple[Operation | None, str]:
        """The operation, None when it has no name, and its group's description."""
        shared = self.shared
        guid, desc = _group_of(record)
        name = text(record.get("profiling_name"))
        if name not in self.names:
            self.names[name] = _NAME.match(name)
        match = self.names[name]
        if match is None:
            return None, desc
        sender, receiver = _ends(match)
        seq = integer(record.get("collective_seq_id"))
        if seq is None:
            seq = integer(record.get("seq_id"))
        state = _state(record.get("state"))
        retired = record.get("retired") is True
        if retired and match[1] is not None and match[1] not in _KERNEL_BACKENDS:
            state = "completed"
        number = integer(record.get("record_id"))
        timeout = integer(record.get("timeout_ms"))
        return Operation(
            record=position if number is None else number, guid=guid, name=match[2], seq=seq or 0,
            p2p=record.get("is_p2p") is True or sender is not None, sender=sender, receiver=receiver,
            batch=integer(record.get("p2p_seq_id")) or 0, state=state, retired=retired,
            created=integer(record.get("time_created_ns")) or None,
            timeout=None if timeout is None else timeout / 1000.0,
            numel_in=shared.elements(record.get("input_sizes")),
            numel_out=shared.elements(record.get("output_sizes")),
            types_in=shared.types(record.get("input_dtypes")),
            types_out=shared.types(record.get("output_dtypes")),
            where=shared.place(record.get("frames")),
        ), desc  # fmt: skip


def _group_of(record: Mapping[str, object]) -> tuple[str, str]:
    """Guid and description; before version 2 there is only the number that the process counts by."""
    names = record.get("process_group")
    if isinstance(names, list | tuple) and names:
        return text(names[0]), text(names[1]) if len(names) > 1 else ""
    pg_id = integer(record.get("pg_id"))
    return text(names) or ("" if pg_id is None else str(pg_id)), ""


def _state(value: object) -> State:
    return "completed" if value == "completed" else "started" if value == "started" else "scheduled"


def _ends(match: re.Match[str]) -> tuple[int | None, int | None]:
    if match[3] is None:
        return None, None
    one, other = int(match[3]), int(match[5])
    return (one, other) if match[4] == "->" else (other, one)


def _groups(value: object) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    known: dict[str, tuple[int, ...]] = {}
    for guid, about in (value if isinstance(value, dict) else {}).items():
        if isinstance(about, dict):
            guid, stated = text(guid), about.get("ranks")
            # many groups may state their members with one and the same text
            if isinstance(stated, str):
                members = known[stated] if stated in known else ranks(stated)
                known[stated] = members
            else:
                members = ranks(stated)
            if guid or members:
                groups[guid] = Group(guid, text(about.get("desc")), members)
    return groups


def _name_the_nameless(groups: dict[str, Group]) -> None:
    """Give the members that are stated without a name, as gloo's recorder does, to the one group that has no others."""
    unstated = [group for guid, group in groups.items() if guid and not group.ranks]
    if "" in groups and len(unstated) == 1:
        members = groups.pop("").ranks
        groups[unstated[0].guid] = replace(unstated[0], ranks=members)


def _statuses(value: object) -> dict[int, Progress]:
    statuses: dict[int, Progress] = {}
    for key, about in (value if isinstance(value, dict) else {}).items():
        pg_id = integer(key)
        if pg_id is not None and isinstance(about, dict):
            steps = ("enqueued", "started", "completed")
            statuses[pg_id] = Progress(*(_counter(about.get(f"last_{step}_collective")) for step in steps))
    return statuses


def _guids_by_id(
    statuses: Mapping[int, Progress], seen: Mapping[int, str], groups: Mapping[str, Group]
) -> Mapping[int, str]:
    """Which group each counter belongs to: counters go by creation, and so do the groups' numbers.

    Operations state both, but only those in the dump, and an idle rank may have none there.
    """
    if len(statuses) != len(groups) or not all(guid.isdecimal() and len(guid) < 10 for guid in groups):
        return seen
    named = dict(zip(sorted(statuses), sorted(groups, key=int), strict=True))
    return named if all(named.get(pg_id) == guid for pg_id, guid in seen.items()) else seen


def _counter(value: object) -> int | None:
    """A counter; -1, and what an unsigned -1 or uninitialised memory looks like, are unknown."""
    number = integer(value)
    return number if number is not None and 0 <= number < 1 << 48 else None


def _rank_of_groups(groups: Mapping[str, Group], operations: Sequence[Operation]) -> int | None:
    """The one rank that is in all of the dump's groups, or that its sends and receives state."""
    for operation in operations:
        group = groups.get(operation.guid)
        mine = operation.sender if operation.name == "send" else operation.receiver
        if group is not None and mine is not None and mine < len(group.ranks):
            return group.ranks[mine]
    common: set[int] | None = None
    for group in groups.values():
        if group.ranks:
            common = set(group.ranks) if common is None else common & set(group.ranks)
    return next(iter(common)) if common is not None and len(common) == 1 else None
