"""Who leads to whom: the little graph theory that chains of waits need, without recursion."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

_N = TypeVar("_N", bound=Hashable)


def components(edges: Mapping[_N, Iterable[_N]]) -> list[list[_N]]:
    """Strongly connected components, without recursion: chains can be as long as there are ranks."""
    number: dict[_N, int] = {}
    low: dict[_N, int] = {}
    on_path: set[_N] = set()
    path: list[_N] = []
    found: list[list[_N]] = []
    for start in edges:
        if start in number:
            continue
        work = [(start, iter(edges[start]))]
        number[start] = low[start] = len(number)
        path.append(start)
        on_path.add(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    path.append(target)
                    on_path.add(target)
                    work.append((target, iter(edges[target])))
                    break
                if target in on_path:
                    low[node] = min(low[node], number[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    component: list[_N] = []
                    while True:
                        member = path.pop()
                        on_path.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    found.append(component)
    return found


def callers_of(edges: Mapping[_N, Iterable[_N]]) -> dict[_N, list[_N]]:
    """The edges, turned round."""
    callers: dict[_N, list[_N]] = {}
    for node, targets in edges.items():
        for target in targets:
            callers.setdefault(target, []).append(node)
    return callers


def reach(nodes: Iterable[_N], callers: Mapping[_N, Iterable[_N]]) -> set[_N]:
    """All that lead to ``nodes`` in the end, they themselves included."""
    seen = set(nodes)
    todo = list(seen)
    while todo:
        for caller in callers.get(todo.pop(), ()):
            if caller not in seen:
                seen.add(caller)
                todo.append(caller)
    return seen
