"""What was raised once, by whom no line names, and what stands around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from triage.diagnosis.heeded import inside
from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.model import Origin
from triage.scan.around import Around
from triage.scan.ordinary.said import Said, without_digits


class Surroundings(NamedTuple):
    """The lines above a traceback, those of it, and those below."""

    above: Sequence[Said]
    trace: Sequence[Said]
    below: Sequence[Said]


def surroundings(
    origin: Origin, raised: Item | None, lead: Item, job: Job, around: Around | None
) -> Surroundings | None:
    """What stands around the lead's traceback; None where that has a name, or its place is not known."""
    begin = None if raised is None else raised.number("_begin")
    end = None if raised is None else raised.number("_end")
    if around is None or begin is None or end is None or not nameless(origin, raised, lead, job):
        return None
    lines = around.lines(lead.finding.source, begin)
    return Surroundings(
        [line for line in lines if line.offset < begin],
        [line for line in lines if begin <= line.offset <= end],
        [line for line in lines if line.offset > end],
    )


def nameless(origin: Origin, raised: Item | None, lead: Item, job: Job) -> bool:
    """Whether the lead was raised once, by whom no line names, and nothing else tells whose it is."""
    if raised is None or origin.rank is not None or origin.ranks or not lead.finding.raised:
        return False
    if lead.rank is not None or lead.finding.stream:
        return False
    like = [i for i in job.items if i.finding.raised and i.rule.id == lead.rule.id and not inside(i, raised)]
    same = [i for i in job.of_fact("exception") if _raised(i) == _raised(raised) and not inside(i, raised)]
    return not like and not same and lead.finding.count == raised.finding.count == 1


def given(origin: Origin, rank: int, identities: Identities) -> Origin:
    """``origin`` with this rank, unless there is none of the number, or it is not among those that ended badly."""
    size = identities.world_size
    if (size is not None and rank >= size) or (identities.ended_badly and rank not in identities.ended_badly):
        return origin
    return origin._replace(rank=rank, ranks=(rank,))


def _raised(exception: Item) -> tuple[str | None, str]:
    """What was raised, whatever the numbers in it."""
    return exception.text("type"), without_digits(exception.text("message") or "")
