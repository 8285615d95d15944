"""Files that two numbers tell apart, a node's and that of a process on it: ``node1/gpu3.log``, ``host-07/2.err``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triage.model import Source
from triage.scan.lazy import deferred

_NUMBER = deferred(r"\d{1,6}")
_NOT_NODES = deferred(
    r"(?i)(?:attempt|restart|try|epoch|step|iter|round|version|v|run|job|array|part|seed|fold|shard|day|hour|ckpt|checkpoint)s?[._-]?\Z"
)
"""What stands before a number that counts something else than nodes."""
_FEWEST = 4
"""Files by which it shows."""


def by_node_and_number(sources: Sequence[Source]) -> dict[int, int]:
    """The ranks of sources, where on several nodes the same numbers come again, from 0 on and all of them."""
    found: dict[tuple[str, ...], dict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    for index, source in enumerate(sources):
        name = source.path or source.name
        numbers = [n for n in _NUMBER.finditer(name) if not name[: n.start()][-1:].isdigit()]
        for at, node in enumerate(numbers):
            if _NOT_NODES.search(name[: node.start()]) is not None:
                continue
            for own in numbers[at + 1 :]:
                if _NOT_NODES.search(name[: own.start()]) is None:
                    parts = (
                        name[: node.start()],
                        name[node.end() : own.start()],
                        name[own.end() :].partition(".")[0],
                    )
                    found[parts][int(node[0]), int(own[0])].append(index)
    grids = [pairs for pairs in found.values() if _full(pairs)]
    if len(grids) != 1:
        return {}
    (pairs,) = grids
    nodes = sorted({node for node, _ in pairs})
    held = len({own for _, own in pairs})
    return {index: nodes.index(node) * held + own for (node, own), at in pairs.items() for index in at}


def _full(pairs: dict[tuple[int, int], list[int]]) -> bool:
    nodes, own = {node for node, _ in pairs}, {number for _, number in pairs}
    return (
        len(pairs) >= _FEWEST and len(nodes) > 1 and len(own) > 1
        and len(pairs) == len(nodes) * len(own) and own == set(range(len(own)))
    )  # fmt: skip
