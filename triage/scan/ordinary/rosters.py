"""Lists in which somebody says which number each process has: ``rank 3 -> dp1 tp0``, ``0=server, 1=worker-a``, ``slot 2 is process 811``.

A single such pair may be anything. Where each name or pid stands beside a number of its own, and the numbers are all
from 0 on, they are the ranks of those that are called so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from triage.scan.lazy import compiled
from triage.scan.ordinary.said import Said

FEWEST = 2
"""Pairs by which it shows."""
_BETWEEN = r"[^\w\n]{0,12}(?:[A-Za-z]{1,12}[^\w\n]{1,4}){0,3}"
"""What may stand between a number and a name."""
_SMALL = r"(?<![\w.:-])(\d{1,4})(?!\w|[.:]\d)"
_PID = r"(?<![\w.:-])(\d{3,8})(?!\w|[.:]\d)"
_CALLED = (
    r"(?i)\b(?:rank|slot|worker|process|proc|member|child|replica|actor|trainer)(?:_?(?:id|no|idx|index))?\W{0,3}"
    + _SMALL
)
"""A small number that is called that of a process."""
_COUNTS = r"(?i)\b(?:step|epoch|iter\w*|round|code|status|exit\w*|signal|in|after|for|took|with)\W{1,3}\Z"


def rosters(lines: Iterable[Said], names: Sequence[str]) -> dict[str, int]:
    """The ranks of ``names``, and of processes as ``pid 71``, as lists in ``lines`` give them."""
    said = list(lines)
    return {**_of_pids(said), **_of_names(said, names)}


def _of_names(lines: Sequence[Said], names: Sequence[str]) -> dict[str, int]:
    if len(names) < FEWEST:
        return {}
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    before = re.compile(rf"{_SMALL}{_BETWEEN}(?<![\w-])({alternatives})(?![\w-])")
    behind = re.compile(rf"(?<![\w-])({alternatives})(?![\w-]){_BETWEEN}{_SMALL}")
    pairs: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
    for line in lines:
        for found in before.finditer(line.message):
            if compiled(_COUNTS).search(line.message, 0, found.start()) is None:
                pairs["before", _wording(line, alternatives)].add((found[2], int(found[1])))
        for found in behind.finditer(line.message):
            pairs["behind", _wording(line, alternatives)].add((found[1], int(found[2])))
    return _agreed([told for told in pairs.values() if len({name for name, _ in told}) >= min(3, len(names))])


def _wording(line: Said, alternatives: str) -> str:
    return re.sub(r"\d+", "#", re.sub(alternatives, "\0", line.message))[:120]


def _of_pids(lines: Sequence[Said]) -> dict[str, int]:
    """Of lines that are the same but for a small number and a large one."""
    pairs: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for line in lines:
        small = compiled(_CALLED).search(line.message)
        if small is None:
            continue
        large = [n for n in compiled(_PID).finditer(line.message) if n.start() != small.start(1)]
        if len(large) == 1:
            wording = re.sub(r"\d+", "#", line.message)
            pairs[wording].add((f"pid {large[0][1]}", int(small[1])))
    return _agreed(list(pairs.values()))


def _agreed(lists: Sequence[set[tuple[str, int]]]) -> dict[str, int]:
    """What the longest list says that numbers each name otherwise, from 0 on, and all others of its length."""
    whole: list[dict[str, int]] = []
    for told in lists:
        numbers = {number for _, number in told}
        if len(told) < FEWEST or not len(numbers) == len(told) == len({name for name, _ in told}):
            continue
        if numbers == set(range(len(numbers))):
            whole.append(dict(told))
    most = max(map(len, whole), default=0)
    longest = [own for own in whole if len(own) == most]
    return longest[0] if longest and all(own == longest[0] for own in longest) else {}
