"""Ranks that wait for each other in different groups: all wait, and no operation has all of its members.

Where a link or a GPU stops, at least the members of one group are all in its operation, and others wait for them. Where
no operation that anybody waits in has all of its members, each waits for one that waits elsewhere, so that some two
waits close a circle: the ranks issue their operations in different orders, or one left an operation out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.desync import BATCHED, PAIRWISE_OPS, UNEVEN_OPS
from triage.diagnosis.ledger.groups import DEFAULT_GROUP, UNNAMED
from triage.diagnosis.ledger.ledger import Ledger, Wait, by_group
from triage.diagnosis.ledger.subgroups import members_between, numbers_of
from triage.diagnosis.ledger.verdicts import verdict
from triage.model import Value

_FEWEST = 3
"""Ranks from which on groups that share members can be told from one group."""
_AS_MANY = 4
"""Ranks that wait, by which nobody else is expected where no line says how many there are."""

_LARGE = 2
"""A rank's number in a group, from which on the group has several others: it counts from 0."""

_EXCHANGES = PAIRWISE_OPS | {BATCHED}
_IN_STEP = 3
"""Waits by whose numbers the ranks are taken for those of one group, where no line names it."""


@dataclass(frozen=True, slots=True)
class _Operation:
    """Who waits in one operation of a group, and who of its members is known not to."""

    waits: Sequence[Wait]
    absent: frozenset[int]
    whole: bool
    """Whether all members may be there."""

    @property
    def missed(self) -> int | None:
        """The one member that several wait for."""
        return next(iter(self.absent)) if len(self.absent) == 1 < len(self.waits) else None


def entangled(job: Job, ledger: Ledger) -> Item | None:
    """The verdict on ranks that all wait, where nobody can be in one operation with all of its members."""
    lone = _lone(job, ledger)
    if lone is not None:
        return lone
    waiting = ledger.waiting
    size = ledger.identities.world_size
    if not set(ledger.members) <= waiting.keys() or len(waiting) < (_FEWEST if size else _AS_MANY):
        return None
    operations = list(_operations(job, ledger))
    if len(operations) < 2 or any(operation.whole for operation in operations):
        return None
    operations.sort(key=lambda operation: -len(operation.waits))
    rank = _astray(operations)
    own = None if rank is None else waiting[rank]
    usual = operations[0].waits[0]
    others = [operation.waits[0] for operation in operations[1:] if own is None or own not in operation.waits]
    shown = [wait for wait in (own, usual, *others) if wait is not None]
    fields: dict[str, Value] = {
        "ranks": None if rank is None else (rank,), "members": len(waiting), "operations": len(operations),
        "path": None if own is None else
        f"rank {rank} is in {_told(ledger, own)} while the others of its group are in {_told(ledger, _missing(operations, own.rank))}",
    }  # fmt: skip
    return verdict(job, "ledger.entangled", fields, [wait.item for wait in shown], rank=rank)


def _missing(operations: Iterable[_Operation], rank: int) -> Wait:
    return next(operation.waits[0] for operation in operations if operation.missed == rank)


def _told(ledger: Ledger, wait: Wait) -> str:
    name = ledger.descriptions.get(wait.group, wait.group)
    group = "" if name.startswith(UNNAMED) else f" of group {name}"
    return f"{wait.op or 'a collective'}{group} (sequence {wait.seq})"


def _astray(operations: Sequence[_Operation]) -> int | None:
    """The one rank that all others of some group wait for, and that does not wait with most of its group for another one."""
    missed = {operation.missed for operation in operations} - {None}
    led = {wait.rank for operation in operations if operation.missed is not None for wait in operation.waits}
    found = missed - led
    return found.pop() if len(found) == 1 else None


def _operations(job: Job, ledger: Ledger) -> Iterable[_Operation]:
    unnamed: list[Wait] = []
    largest = _sizes(ledger)
    for group, ranks in ledger.waits.items():
        waits = [ranks[rank] for rank in sorted(ranks)]
        if group.startswith(UNNAMED):
            unnamed += waits
        elif group == DEFAULT_GROUP:
            absent = frozenset(ledger.members) - ranks.keys()
            yield _Operation(waits, absent, not absent)
        elif waits[0].op in _EXCHANGES:
            yield _Operation(waits, frozenset(), _may_meet(waits))
        else:
            numbers = numbers_of(job, ledger, group)
            size = max(largest[ledger.descriptions.get(group)], max(numbers, default=0) + 1)
            known = set(numbers.values()) | set(members_between(numbers, size))
            absent = frozenset(known & set(ledger.members)) - ranks.keys()
            yield _Operation(waits, absent, not absent and len(waits) >= max(size, 2))
    yield from _alike(ledger, unnamed)


def _may_meet(waits: Sequence[Wait]) -> bool:
    """Whether some two of those who send or receive may be about the same message."""
    operations = {wait.op for wait in waits}
    return len(waits) > 1 and (BATCHED in operations or operations >= PAIRWISE_OPS)


def _sizes(ledger: Ledger) -> Mapping[str | None, int]:
    """How many members the groups of each description have at least: those of one dimension of a mesh have as many."""
    found: dict[str | None, int] = defaultdict(int)
    for group, described in ledger.descriptions.items():
        spoken = ledger.waits.get(group, {}).keys() | ledger.status.get(group, {}).keys()
        found[described] = max(found[described], len(spoken))
    return found


def _alike(ledger: Ledger, waits: Sequence[Wait]) -> Iterable[_Operation]:
    """Waits whose lines name no group, by what they wait in: members of one group wait in the same operation."""
    found: dict[tuple[str | int | None, ...], list[Wait]] = defaultdict(list)
    for wait in waits:
        sizes = () if wait.op in UNEVEN_OPS else (wait.numel_in, wait.numel_out)
        kind = (wait.op, wait.seq, *sizes)
        if wait.op not in _EXCHANGES:
            found[kind].append(wait)
    # each rank counts its own exchanges, and their two sides have different names
    exchanges = [wait for wait in waits if wait.op in _EXCHANGES]
    if exchanges:
        yield _Operation(exchanges, frozenset(), _may_meet(exchanges))
    for alike in found.values():
        numbers = {n: w.rank for w in alike if (n := w.item.number("group_rank")) is not None}
        size = max((1, *numbers)) + 1
        if all(number == rank for number, rank in numbers.items()):
            missing = set(ledger.members) - set(numbers.values())
        elif len(alike) == len(numbers) >= _IN_STEP:
            missing = set(members_between(numbers, size)) & set(ledger.members)
        else:
            missing = set()
        # of several groups that are in the same none is whole where a number is nowhere among them
        yield _Operation(alike, frozenset(missing), numbers.keys() >= set(range(size)))


def _lone(job: Job, ledger: Ledger) -> Item | None:
    """The verdict on the one rank in an operation of a group of several, while all others wait in one of another group."""
    waiting = ledger.waiting
    groups = by_group(waiting)
    alone = [waits[0] for waits in groups.values() if len(waits) == 1]
    if (
        len(groups) != 2
        or len(alone) != 1
        or len(waiting) < _AS_MANY
        or not set(ledger.members) <= {*waiting, *ledger.bereft}
    ):
        return None
    (own,) = alone
    if own.group == DEFAULT_GROUP or own.seq is None or (own.item.number("group_rank") or 0) < _LARGE:
        return None
    others = [wait.item for wait in waiting.values() if wait is not own]
    fields: dict[str, Value] = {"ranks": (own.rank,), "seq": own.seq, "op": own.op}
    return verdict(job, "ledger.extra-collective", fields, [own.item, *others], rank=own.rank)
