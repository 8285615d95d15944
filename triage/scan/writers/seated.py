"""A host and a number on it, by which the processes of a job tell themselves apart: ``[node2.0]``, ``gpu-11/3 |``, ``n1:gpu2``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from triage.scan.lazy import deferred

MOST_SEATS = 16
"""No node has more GPUs."""
_BETWEEN = (
    r"(?:[.:/@#|,_-]|[\])>]? ?[\[(<]|[ ./:,_-]{0,2}(?:gpu|cuda|local|lr|slot|dev|proc|rank|[lgpr])[ :=#._-]?)"
)
_HOST = r"[A-Za-z](?:[\w-]*[A-Za-z_-])?\d{1,5}"
_SEAT = deferred(rf"({_HOST})(?:{_BETWEEN}|\[)(\d{{1,2}})\]?\Z")
_BEFORE = deferred(rf"(?<![\w.])({_HOST})({_BETWEEN})\Z")
_COUNTER = deferred(
    r"(?i)\A(?:epoch|ep|step|iter\w*|round|batch|layer|block|fold|seed|chunk|sample|attempt|trial|phase|stage|part|shard|file|line|test"
    r"|loss|acc\w*|lr|v|version|run|job|task|exp|rank|r|t[pc]?|[dpec]p|cuda|gpu|device|head|expert|group|[a-z]?world)[_-]?\d"
)
"""Words before a number that name no machine."""
_MACHINE = deferred(
    r"(?i)\A(?:node|host|gpu|dgx|hgx|compute|nid|server|machine|cn|gn|pod|rig|vm|box)[\w-]*\d"
)
"""Names that only machines have."""


def seat_of(name: str) -> tuple[str, int] | None:
    """The host and the number on it in the name of a writer."""
    found = _SEAT.match(name)
    return None if found is None else (found[1], int(found[2]))


def seated(names: Iterable[str]) -> bool:
    """Whether all names of writers are a host and a number on it: on several hosts the same numbers come again."""
    seats = [seat_of(name) for name in names]
    told = [seat for seat in seats if seat is not None]
    return len(told) == len(seats) and on_hosts(told)


def on_hosts(seats: Iterable[tuple[str, int]]) -> bool:
    """Whether these are hosts and numbers on them, from 0 on."""
    held: Mapping[str, set[int]] = defaultdict(set)
    for host, number in seats:
        held[host].add(number)
    numbers = set().union(*held.values())
    if not numbers or numbers != set(range(len(numbers))) or len(numbers) > MOST_SEATS:
        return False
    if any(map(_COUNTER.match, held)):
        return False
    if len(held) == 1:
        return len(numbers) > 1 and all(map(_MACHINE.match, held))
    # somebody may be missing; who numbers ranks through has no number on two hosts
    return sum(map(len, held.values())) > len(numbers)


def host_before(text: str) -> tuple[str, str] | None:
    """The host that ``text`` ends with, and what stands between it and the number behind."""
    found = _BEFORE.search(text)
    return None if found is None else (found[1], found[2])
