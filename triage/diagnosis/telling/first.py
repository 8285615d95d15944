"""Which of several ranks that met the same was the first, where clocks tell it clearly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.job import Item, comparable
from triage.diagnosis.ranks.seats import Identities
from triage.model import Moment
from triage.scan.around import Around

CLEARLY = 2.0
"""Seconds by which one must be ahead of all others: processes that start at once meet the same some moments apart."""


def first_by_clock(
    candidate: Candidate, ranks: Sequence[int], identities: Identities, around: Around | None = None
) -> int | None:
    """The one of ``ranks`` that said it, or whose process ended by itself, clearly before the others did.

    One node's launcher looks at all its processes at once, and ends the others when one has failed. A traceback bears no
    time: the line above it does in which the same was logged, in logs of several nodes.
    """
    said: dict[int, Moment] = {}
    above: dict[int, Moment] = {}
    sources: dict[int, int] = {}
    for item in candidate.items:
        if item.rank is None:
            continue
        _earliest(said, item.rank, item.finding.time)
        _earliest(above, item.rank, _above(item, around))
        sources[item.rank] = item.finding.source
    if len({sources.get(rank) for rank in ranks}) < len(set(ranks)):
        above = {}
    for times in (said, above, identities.ended_at):
        first = _first({rank: times[rank] for rank in ranks if rank in times}, ranks)
        if first is not None:
            return first
    return None


def _earliest(times: dict[int, Moment], rank: int, time: Moment | None) -> None:
    if time is not None and time.clock != "uptime":
        times[rank] = min(times.get(rank, time), time)


def _above(item: Item, around: Around | None) -> Moment | None:
    """When somebody logged what was raised, before it was raised again."""
    message = item.text("message") or ""
    if around is None or len(message) < _ENOUGH_WORDS:
        return None
    return around.time_above(item.finding.source, item.finding.offset, message.split("\n")[0])


_ENOUGH_WORDS = 16
"""Letters of a message that two failures hardly have in common by chance."""


def _first(times: Mapping[int, Moment], ranks: Sequence[int]) -> int | None:
    if len(times) < len(set(ranks)) or len(times) < 2:
        return None
    first, second = sorted(times, key=lambda rank: times[rank].seconds)[:2]
    if any(not comparable(times[first], time) for time in times.values()):
        return None
    return first if times[second].seconds - times[first].seconds >= CLEARLY else None
