"""All ranks that run on a host, so that what befalls a node is told of its ranks too.

A host's ranks count only where all of them are known: a launcher's table, every rank of the job seated, the first
rank of each node beside how many a node holds, or Slurm's list of nodes beside its number of tasks on each.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from triage.diagnosis.job import Job
from triage.diagnosis.ranks.nodes import NOWHERE, Nodes, per_node, short, without_numbers
from triage.diagnosis.ranks.seats import Identities, Seat
from triage.scan.lazy import compiled
from triage.sources.hostlist import expand

_TABLE = r"'(?P<host>[\w.-]+)': \[(?P<ranks>[\d, ]*)\]"
_PER_NODE = ("SLURM_NTASKS_PER_NODE", "SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE")
_EQUAL = r"(\d{1,4})(?:\(x(\d{1,5})\))?"
"""``4`` or ``4(x16)``: as many tasks on every node."""
_FEWEST = 2
"""Hosts by which it shows how a job is spread, where nothing states how large it is."""
_Residents = dict[str, tuple[int, ...]]


def note_residents(job: Job, table: Identities) -> None:
    """Record the ranks of every host of which all are known."""
    size = table.world_size
    table.unplaced = _left_over(table.seats.values(), size)
    ways = (
        _tables(job),
        _seated(table.seats.values(), size),
        _counted(job, table.nodes, size),
        _slurm(job, size),
    )
    for found in ways:
        for host, ranks in found.items():
            table.residents.setdefault(host, ranks)


def _tables(job: Job) -> _Residents:
    """The ranks that a launcher gives to each host, as it prints them, or the GPUs for which it counts them on."""
    found: _Residents = {}
    for item in job.of_fact("host-ranks"):
        first = 0
        for row in compiled(_TABLE).finditer(item.text("table") or item.text("slots") or ""):
            numbers = tuple(int(n) for n in row["ranks"].split(",") if n.strip())
            own = numbers if item.text("slots") is None else tuple(range(first, first + len(numbers)))
            first += len(numbers)
            if row["host"] not in NOWHERE:
                found[short(row["host"])] = own
    return found


def _seated(seats: Iterable[Seat], size: int | None) -> _Residents:
    """The hosts' ranks where every rank has a seat on one; of a part of the job the rest would be missing."""
    held = _held(seats)
    known = set().union(*held.values())
    if size is not None:
        complete = known >= set(range(size))
    else:
        alike = len({len(ranks) for ranks in held.values()}) == 1
        complete = len(held) >= _FEWEST and alike and known == set(range(len(known)))
    return {host: tuple(sorted(ranks)) for host, ranks in held.items()} if complete else {}


def _held(seats: Iterable[Seat]) -> dict[str, set[int]]:
    """The ranks that are known to sit on each host."""
    held: dict[str, set[int]] = defaultdict(set)
    for seat in seats:
        if seat.host is not None:
            held[short(seat.host)].add(seat.rank)
    return held


def _left_over(seats: Iterable[Seat], size: int | None) -> tuple[str, tuple[int, ...]] | None:
    """The ranks of the one host of which nothing was heard, and how it is called but for numbers, as all others are."""
    held = _held(seats)
    shapes = {without_numbers(host) for host in held}
    each = {len(ranks) for ranks in held.values()}
    left = tuple(sorted(set(range(size or 0)).difference(*held.values())))
    if len(held) < _FEWEST or len(shapes) != 1 or each != {len(left)} or left[-1] - left[0] >= len(left):
        return None
    return shapes.pop(), left


def _counted(job: Job, nodes: Nodes, size: int | None) -> _Residents:
    """The hosts' ranks from the first of each on, where all nodes hold equally many."""
    firsts = nodes.hosts
    each = per_node(job)
    if each is None and size is not None and len(firsts) >= _FEWEST and size % len(firsts) == 0:
        each = size // len(firsts)
        if sorted(firsts.values()) != list(range(0, size, each)):
            return {}
    if each is None or any(first % each for first in firsts.values()):
        return {}
    return {host: tuple(range(first, first + each)) for host, first in firsts.items()}


def _slurm(job: Job, size: int | None) -> _Residents:
    """The hosts' ranks by Slurm's list of nodes, over which it spreads tasks in blocks.

    One task for each node may be a launcher, which starts as many processes as it is told.
    """
    lists = {
        nodes
        for fact in ("job", "slurm-job")
        for v in job.facts(fact, "nodes")
        if len(nodes := _names(v)) > 1
    }
    if len(lists) != 1:
        return {}
    (hosts,) = lists
    each = per_node(job) or _tasks(job.environment) or _recorded(job, len(hosts))
    if size is None and (per_node(job) is not None or each == 1):
        return {}
    if size is not None and size % len(hosts) == 0 and (each is None or each == 1):
        each = size // len(hosts)
    if each is None:
        return {}
    if size is not None and size != each * len(hosts):
        return {}
    return {short(host): tuple(range(at * each, (at + 1) * each)) for at, host in enumerate(hosts)}


def _recorded(job: Job, nodes: int) -> int | None:
    """How many tasks each node holds by Slurm's record of the job, if as many each."""
    totals = {v for v in job.facts("slurm-job", "tasks") if isinstance(v, int) and v > 0}
    total = totals.pop() if len(totals) == 1 else None
    return None if total is None or total % nodes else total // nodes


def _names(value: object) -> tuple[str, ...]:
    """The hosts of a list; its order is that of the nodes."""
    return expand(value) if isinstance(value, str) else ()


def _tasks(environment: Mapping[str, str]) -> int | None:
    """How many tasks Slurm starts on each node, if as many on all."""
    told = [re.fullmatch(_EQUAL, environment[name]) for name in _PER_NODE if name in environment]
    numbers = {int(match[1]) if match is not None else None for match in told}
    return numbers.pop() if len(numbers) == 1 else None
