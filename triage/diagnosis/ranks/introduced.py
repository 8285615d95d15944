"""Those who write in a log under names and each give a rank as their own: these are theirs where nothing speaks against it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from triage.diagnosis.ranks.heard import Heard, Place


def introduced(own: Mapping[Place, Collection[int]], heard: Mapping[Place, Heard]) -> dict[Place, int]:
    """Ranks of places of which each gives one as its own, and that are as many as their ranks make necessary.

    Where they are fewer, a place holds several ranks, of which one does the talking.
    """
    found: dict[Place, int] = {}
    groups: dict[_Group, dict[Place, int]] = defaultdict(dict)
    several: set[_Group] = set()
    for place, ranks in own.items():
        group = _group(place)
        at = heard.get(place) or Heard()
        if len(ranks) != 1 or len(at.ranks) > 1 or len(at.local_ranks) > 1 or at.launcher:
            if place[1] or not any(other[0] == place[0] and other[1] for other in own):
                several.add(group)
            continue
        groups[group][place] = next(iter(ranks))
    for group, told in groups.items():
        numbers = set(told.values())
        if len(told) > 1 and len(numbers) == len(told) and group not in several:
            places = {place for place in heard if _group(place) == group} | told.keys()
            if max(numbers) < len(places):
                found |= told
    return found | _of_nodes(groups, several, heard)


def _of_nodes(
    groups: Mapping[_Group, Mapping[Place, int]], several: Collection[_Group], heard: Mapping[Place, Heard]
) -> dict[Place, int]:
    """The same of the names in several logs together, each of which has ranks of its own: one log a node."""
    told = {
        place: rank
        for group, own in groups.items()
        if group[0] is not None and not group[1] and group not in several
        for place, rank in own.items()
    }
    sources = {place[0] for place in told}
    places = {place for place in heard if place[0] in sources and _group(place) in groups} | told.keys()
    places = {place for place in places if place[1]}
    numbers = set(told.values())
    if len(sources) < 2 or len(numbers) != len(told) or max(numbers) >= len(places):
        return {}
    return told


_Group = tuple[int | None, bool]
"""Places that may be compared: whole sources, names in one source, or processes that told their pids in it."""


def _group(place: Place) -> _Group:
    return (place[0] if place[1] else None, place[1].startswith("pid "))
