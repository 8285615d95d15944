"""Ranks by parallelism coordinates, where one line does not determine them but all lines together do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import pairwise
from math import prod

from triage.diagnosis.job import Item

_COUNTED = ("DP", "PP", "PCP", "TP")
"""Coordinates from the slowest to the fastest; experts and contexts lie within these."""


def located(items: list[Item], world_size: int | None) -> list[Item]:
    """``items`` with the ranks of ``PP1 TP3`` where the sizes are known, and of ``DP1 TP3`` where TP counts them all."""
    seen: dict[tuple[str, ...], set[tuple[int, ...]]] = defaultdict(set)
    for item in items:
        names, places = _counted(item)
        if names:
            seen[names].add(places)
    sizes: dict[tuple[str, ...], tuple[int, ...]] = {}
    for names, found in seen.items():
        extent = tuple(max(column) + 1 for column in zip(*found, strict=True))
        if len(names) > 1 and prod(extent) == world_size:
            sizes[names] = extent
    shared = _attention(seen.get(("DP", "TP"), set()), {i.finding.labels for i in items})
    return [
        item if item.rank is not None or (rank := _rank(item, sizes, shared)) is None
        else Item(replace(item.finding, rank=rank), item.rule)
        for item in items
    ]  # fmt: skip


def _counted(item: Item) -> tuple[tuple[str, ...], tuple[int, ...]]:
    labels = dict(item.finding.labels)
    names = tuple(name for name in _COUNTED if name in labels)
    return names, tuple(labels[name] for name in names)


def _rank(item: Item, sizes: dict[tuple[str, ...], tuple[int, ...]], shared: bool) -> int | None:
    names, places = _counted(item)
    if names in sizes:
        rank = 0
        for place, size in zip(places, sizes[names], strict=True):
            rank = rank * size + place
        return rank
    # vLLM's workers carry their pid and count data-parallel ranks apart
    return places[1] if names == ("DP", "TP") and shared and item.finding.pid is None else None


def _attention(found: Iterable[tuple[int, ...]], labels: Collection[tuple[tuple[str, int], ...]]) -> bool:
    """Whether DP splits the tensor-parallel ranks, as SGLang's attention does: equal runs of them, one after another.

    Of one run alone, the first one begins at 0 in any case; a later one has that many before it, and it shares its
    experts with them.
    """
    groups: dict[int, set[int]] = defaultdict(set)
    for dp, tp in found:
        groups[dp].add(tp)
    runs = [groups[dp] for dp in sorted(groups)]
    if len(runs) == 1:
        (dp,) = groups
        spread = all("EP" in dict(told) for told in labels if {"DP", "TP"} <= dict(told).keys())
        return dp == 0 or (spread and min(runs[0]) >= dp)
    return all(max(one) < min(other) for one, other in pairwise(runs))
