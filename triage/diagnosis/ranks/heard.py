"""What was said where: by whom, in a source or under a name in it, and what it tells of ranks."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from triage.diagnosis.job import TROUBLE, Job
from triage.diagnosis.ranks.launchers import ONE_PROCESS, by_launcher
from triage.model import Finding
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.said import SELF
from triage.scan.prefix import split_line

_RANK_TAG = deferred(r"\[Rank (\d{1,6})\]")
_DEFAULT_TAG = deferred(r"\[PG [^\[\]]{0,80}\(default_pg\) Rank (\d{1,6})\]")
Place = tuple[int, str]
"""A source, and the name of a pod or container in it; empty where the whole source is one's."""


@dataclass(slots=True, eq=False, repr=False)
class Heard:
    """What was said at one place."""

    ranks: set[int] = field(default_factory=set)
    tags: set[int] = field(default_factory=set)
    """Ranks as torch 2.1 and older write them, which may be numbers within a group."""
    local_ranks: set[int] = field(default_factory=set)
    launcher: bool = False
    peers: bool = False
    met: bool = False
    """Whether who wrote there, and did not say who that is, waited for others or lost them."""
    host: bool = False
    """Whether it is a host that is called so."""
    trouble: bool = False
    """Whether anything went wrong there."""
    raised: Counter[str] = field(default_factory=Counter)
    """How often what rules know was raised there."""


def default_tag(finding: Finding) -> int | None:
    """The number in ``(default_pg) Rank 3]``, by which a process calls itself in the group of all: its rank."""
    said = _DEFAULT_TAG.search(finding.evidence[0].text[:400]) if finding.evidence else None
    return int(said[1]) if said else None


def group_tag(finding: Finding) -> int | None:
    """The number in ``[Rank 3]``, by which a process group of torch 2.1 and older calls itself."""
    said = _RANK_TAG.search(finding.evidence[0].text[:400]) if finding.evidence else None
    return int(said[1]) if said else None


def own_name(finding: Finding) -> int | None:
    """The rank with which a program begins a line of its own: ``rank 3 builds the index``."""
    message = split_line(finding.evidence[0].text)[1] if finding.evidence else ""
    said = compiled(SELF).match(message)
    return int(said[1] or said[2]) if said else None


def outermost(stream: str) -> str:
    """The name of the pod, container or host that a line is from."""
    first = stream.partition("/")[0]
    return "" if ONE_PROCESS.match(first) else first


def listen(job: Job) -> dict[Place, Heard]:
    """Who speaks where: only ranks that the lines themselves tell."""
    heard: dict[Place, Heard] = defaultdict(Heard)
    for item in job.items:
        finding = item.finding
        for name in {"", outermost(finding.stream)}:
            at = heard[finding.source, name]
            if finding.rank is not None and f"rank{finding.rank}" in finding.stream.split("/"):
                at.ranks.add(finding.rank)
                at.peers = at.peers or any(tag in item.rule.tags for tag in TROUBLE)
            elif finding.rank is None and (own := default_tag(finding)) is not None:
                at.ranks.add(own)
            elif finding.rank is None and (tag := group_tag(finding)) is not None:
                at.tags.add(tag)
            if (me := item.number("me")) is not None:
                at.tags.add(me)
            if finding.rank is None and not finding.stream and any(tag in item.rule.tags for tag in TROUBLE):
                at.met = True
            if item.rule.fact == "identity":
                at.ranks.update(item.ranks("rank"))
                at.local_ranks.update(item.ranks("local_rank"))
            if item.rule.fact == "rank-exit" and item.number("local_rank") is not None:
                at.launcher = True
            if finding.local_rank is not None:
                at.local_ranks.add(finding.local_rank)
            at.trouble = at.trouble or item.rule.role in {"cause", "symptom"} or finding.raised
            if finding.raised:
                at.raised[item.rule.id] += finding.count
            at.host = at.host or (name != "" and finding.host == name)
            at.launcher = at.launcher or by_launcher(item)
    return heard
