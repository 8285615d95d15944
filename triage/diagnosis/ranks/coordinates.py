"""Ranks by parallelism coordinates, where one line does not determine them but all lines together do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import NamedTuple

from triage.diagnosis.job import Item

_COUNTED = ("NODE", "DP", "PP", "PCP", "TP", "LOCAL")
"""Coordinates from the slowest to the fastest; experts and contexts lie within these."""
_SEAT = ("NODE", "LOCAL")
_SPLIT = ("PP", "PCP")
"""Coordinates that never count within another one, as that of attention's replicas does within TP."""
OF_A_REPLICA = "of-a-replica"
"""Tag of lines whose ``rank`` counts within the replica that prints them."""


Labels = tuple[tuple[str, int], ...]


def located(
    items: list[Item],
    world_size: int | None,
    seats: Iterable[tuple[int, int]] = (),
    marked: Collection[Labels] = (),
) -> list[Item]:
    """``items`` with the ranks of ``PP1 TP3`` where the sizes are known, and of ``DP1 TP3`` where TP counts them all.

    Args:
        seats: the numbers of nodes and of processes there that anybody gives as his own.
        marked: the coordinates that other lines carry.
    """
    seen: dict[tuple[str, ...], set[tuple[int, ...]]] = defaultdict(set)
    seen[_SEAT].update(seats)
    for labels in (*(item.finding.labels for item in items), *marked):
        names, places = _counted(labels)
        if names:
            seen[names].add(places)
    sizes: dict[tuple[str, ...], tuple[int, ...]] = {}
    pids = any(item.finding.labels and item.finding.pid is not None for item in items)
    for names, found in seen.items():
        if not found:
            continue
        extent = tuple(max(column) + 1 for column in zip(*found, strict=True))
        # all that there may be have spoken
        whole = names == _SEAT or (not set(names).isdisjoint(_SPLIT) and set(names).isdisjoint(_SEAT))
        if names == ("DP", "TP") and not pids:
            whole = min(extent) > 1  # an engine's replicas, which count apart, carry pids
        full = whole and world_size is None and len(found) == prod(extent)
        if len(names) > 1 and (prod(extent) == world_size or (full and (names == _SEAT or len(found) > 1))):
            sizes[names] = extent
    shared = _attention(seen.get(("DP", "TP"), set()), {i.finding.labels for i in items})
    stated = _stated(items)
    ranked = []
    for item in items:
        rank = None if item.rank is not None else _rank(item, sizes, shared)
        if rank is None and item.rank is None and stated is not None:
            rank = _by_layout(item, stated)
        if rank is not None:
            item = Item(replace(item.finding, rank=rank), item.rule)
        ranked.append(_among_all(item if stated is None else _engine_named(item, stated), stated))
    return ranked


class _Layout(NamedTuple):
    """How many replicas, stages and tensor-parallel ranks an engine says that it has."""

    dp: int
    pp: int
    tp: int

    def rank(self, dp: int, pp: int, tp: int) -> int | None:
        """The rank at these coordinates, None where there is no such place."""
        if dp >= self.dp or pp >= self.pp or tp >= self.tp:
            return None
        return (dp * self.pp + pp) * self.tp + tp


def _stated(items: Iterable[Item]) -> _Layout | None:
    """What engines state of their layout, where they agree; a replica may count itself alone."""
    told = [
        (i.number("dp") or 1, i.number("pp") or 1, i.number("tp") or 1)
        for i in items
        if i.rule.fact == "layout"
    ]
    if not told or len({(pp, tp) for _, pp, tp in told}) > 1:
        return None
    layout = _Layout(max(dp for dp, _, _ in told), told[0][1], told[0][2])
    return layout if layout.dp * layout.pp * layout.tp > 1 else None


def _by_layout(item: Item, stated: _Layout) -> int | None:
    """The rank of vLLM's process, which carries its pid, and of SGLang's within a stage.

    Coordinates whose size is 1 are not in a name.
    """
    places = {name: number for name, number in item.finding.labels if name in _COUNTED}
    if item.finding.pid is None and places.keys() != {"PP", "TP"}:
        return None
    wanted = {name for name, size in (("PP", stated.pp), ("TP", stated.tp)) if size > 1}
    if not places or not wanted <= places.keys() or "PCP" in places:
        return None
    if stated.dp > 1 and "DP" not in places:
        return None
    return stated.rank(places.get("DP", 0), places.get("PP", 0), places.get("TP", 0))


def _engine_named(item: Item, stated: _Layout) -> Item:
    """``item`` as that of the engine that it is about, where an engine is one rank."""
    engine = item.number("engine_number")
    if engine is None or item.rank is not None or stated.pp * stated.tp > 1:
        return item
    rank = stated.rank(engine, 0, 0)
    return item if rank is None else Item(replace(item.finding, rank=rank), item.rule)


def _among_all(item: Item, stated: _Layout | None) -> Item:
    """``item`` with the rank among all of a worker that a replica of several counts among its own."""
    replica, own = dict(item.finding.labels).get("DP", 0), item.number("rank")
    if OF_A_REPLICA not in item.rule.tags or own is None or not replica:
        return item
    size = 0 if stated is None else stated.pp * stated.tp
    rank = replica * size + own if own < size else None
    fields = {**item.finding.fields, "rank": rank}
    return Item(replace(item.finding, fields={k: v for k, v in fields.items() if v is not None}), item.rule)


def _counted(told: Labels) -> tuple[tuple[str, ...], tuple[int, ...]]:
    labels = dict(told)
    names = tuple(name for name in _COUNTED if name in labels)
    return names, tuple(labels[name] for name in names)


def _rank(item: Item, sizes: dict[tuple[str, ...], tuple[int, ...]], shared: bool) -> int | None:
    names, places = _counted(item.finding.labels)
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
