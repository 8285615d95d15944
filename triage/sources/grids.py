"""Files that two numbers tell apart, a node's and that of a process on it: ``node1/gpu3.log``, ``host-07/2.err``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

_NUMBER = r"(?<!\d)\d{1,6}"
_NOT_NODES = (
    r"(?i)(?:attempt|restart|try|epoch|step|iter|round|version|v|run|job|array|part|seed|fold|shard|day|hour|ckpt|checkpoint"
    r"|exp|experiment|trial|case|test)s?[._-]?\Z"
)
"""What stands before a number that counts something else than nodes."""
_FEWEST = 4
"""Files by which it shows."""

_Pairs = dict[tuple[int, int], list[int]]


def seats(names: Sequence[str]) -> dict[int, tuple[int, int, int]]:
    """Of each name the place of its node among all nodes, its process's number there, and how many each node has.

    Only where on several nodes the same numbers come again, from 0 on and all of them.
    """
    found: dict[tuple[str, ...], _Pairs] = defaultdict(lambda: defaultdict(list))
    for index, name in enumerate(names):
        numbers = list(re.finditer(_NUMBER, name))
        for at, node in enumerate(numbers):
            if re.search(_NOT_NODES, name[: node.start()]) is not None:
                continue
            for own in numbers[at + 1 :]:
                if re.search(_NOT_NODES, name[: own.start()]) is None:
                    parts = (
                        name[: node.start()],
                        name[node.end() : own.start()],
                        name[own.end() :].partition(".")[0],
                    )
                    found[parts][int(node[0]), int(own[0])].append(index)
    grids = [pairs for pairs in found.values() if _full(pairs)]
    if not grids or any(pairs.keys() != grids[0].keys() for pairs in grids):
        return {}
    nodes = sorted({node for node, _ in grids[0]})
    held = len({own for _, own in grids[0]})
    placed: dict[int, tuple[int, int, int]] = {}
    for pairs in grids:  # several are what each process writes: its output, and its errors
        for (number, process), members in pairs.items():
            seat = nodes.index(number), process, held
            if any(placed.setdefault(index, seat) != seat for index in members):
                return {}
    return placed


def _full(pairs: _Pairs) -> bool:
    nodes, own = {node for node, _ in pairs}, {number for _, number in pairs}
    return (
        len(pairs) >= _FEWEST and len(nodes) > 1 and len(own) > 1
        and len(pairs) == len(nodes) * len(own) and own == set(range(len(own)))
    )  # fmt: skip
