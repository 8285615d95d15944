"""What a rank was at while others waited for it: where it was, how far it came, from where it called."""

from __future__ import annotations

from collections import Counter, defaultdict

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.seats import Identities
from triage.model import Evidence, Prefix
from triage.scan.around import Around


def at_work(job: Job, identities: Identities, rank: int, around: Around) -> list[Evidence]:
    """What a rank said of its work last before the first of the others gave up, and last of all.

    Where lines name nobody, what was said there is that of the rank that did not wait.
    """
    waits = [
        i.finding
        for tag in ("collective-timeout", "store-timeout")
        for i in job.of_tag(tag)
        if i.rank != rank and i.rule.role == "symptom"
    ]
    own = [i.finding for i in job.items if i.rank == rank and i.finding.level not in {"error", "fatal"}]
    times = [f.time.seconds % _DAY for f in waits if f.time is not None and f.time.clock != "uptime"]
    told = _told(job, rank)
    streams = {(f.source, f.stream) for f in own if f.stream}
    sole = _alone_in(job, rank)
    spoken = Counter(f.source for f in own)

    def over(source: int, offset: int, prefix: Prefix) -> bool:
        here = [f.offset for f in waits if f.source == source]
        if here:
            return offset >= min(here)
        time = prefix.time
        return time is not None and bool(times) and 0 <= time.seconds % _DAY - min(times) < _SOON

    def mine(source: int, prefix: Prefix, writer: str | None) -> bool:
        seated = identities.rank_of_local(prefix.local_rank, prefix.host) if prefix.rank is None else None
        return writer == str(rank) or seated == rank or source in sole or (source, prefix.stream) in streams

    def nobodys(source: int, prefix: Prefix, writer: str | None) -> bool:
        return writer is None and not prefix.stream

    for source, _ in spoken.most_common(_FEW):
        found = [e for e in around.doing(source, mine, over) if e is not None]
        if found:
            return [*found, *told]
    found = [e for f in waits[:1] for e in around.doing(f.source, mine, over) if e is not None]
    found = found or [e for f in waits[:1] for e in around.doing(f.source, nobodys, over) if e is not None]
    return [*found, *told]


def _alone_in(job: Job, rank: int) -> set[int]:
    """The logs in which a rank writes and no other does, where others have theirs."""
    ranks: dict[int, set[int]] = defaultdict(set)
    for item in job.items:
        if item.rank is not None and not item.about_a_rank:
            ranks[item.finding.source].add(item.rank)
    sole = {source for source, found in ranks.items() if found == {rank}}
    return sole if len(ranks) > len(sole) else set()


def _told(job: Job, rank: int) -> list[Evidence]:
    """Where a rank was when its stack was printed, and what it says to have been at for longer than the others waited."""
    stacks = [i for i in job.of_fact("stack") if i.rank == rank]
    if not stacks and len(job.of_fact("stack")) == 1:
        # the one whose stack is printed, unless it waits as the others do
        stacks = [i for i in job.of_fact("stack") if "torch/distributed/" not in i.finding.evidence[0].text]
    told = [e for i in stacks[-1:] for e in i.finding.evidence[:1]]
    waits = job.of_tag("collective-timeout")
    patience = max((s for i in waits if (s := i.seconds("timeout")) is not None), default=None)
    for item in job.of_fact("took"):
        if patience is not None and item.rank == rank and (item.seconds("seconds") or 0.0) >= patience:
            told += item.finding.evidence[:1]
    return told


_FEW = 3
"""Logs of a rank that are looked at."""
_DAY = 86400.0
_SOON = 600.0
"""Seconds within which what comes later is told from another clock; of the day, as some lines tell no date."""


def called_elsewhere(job: Job, around: Around) -> list[Evidence]:
    """From where in the program the fewest called what they gave up or lost, where not all called from one place."""
    sites: dict[tuple[str, int], dict[int, Item]] = defaultdict(dict)
    for item in job.of_fact("exception"):
        path, line = item.text("file"), item.number("line")
        if item.rank is not None and path is not None and line is not None:
            sites[path, line].setdefault(item.rank, item)
    if len(sites) < 2:
        return []
    (path, line), callers = min(sites.items(), key=lambda site: (len(site[1]), site[0]))
    item = next(iter(callers.values()))
    begin, end = item.number("_begin"), item.number("_end")
    if begin is None or end is None:
        return []
    frame = around.frame(item.finding.source, begin, end, path, line)
    return [] if frame is None else [frame]


def called_from(job: Job, rank: int) -> list[Evidence]:
    """The line of the user's own code from which a rank called what it waited in, as its watchdog printed it."""
    return [e for item in job.of_fact("call-site") if item.rank == rank for e in _last_line(item)][:1]


def _last_line(item: Item) -> list[Evidence]:
    shown = item.finding.evidence[0]
    text = shown.text[: shown.span[1]] if shown.span is not None else shown.text
    whole = shown.text.split("\n")[text.count("\n")]
    return [Evidence(shown.path, None if shown.line is None else shown.line + text.count("\n"), whole)]


def ended(job: Job, identities: Identities, rank: int, around: Around) -> list[Evidence]:
    """What somebody else says of how the process of a rank ended."""
    known = [i for i in job.of_fact("rank-exit") if rank in {i.number("rank"), i.rank}]
    if known:
        return [e for i in known[:1] for e in i.finding.evidence[:1]]
    own = [i.finding for i in job.items if i.rank == rank]
    pids = {pid for pid in (identities.seat(rank).pid, *(f.pid for f in own)) if pid is not None}
    leads = {
        part.removeprefix("lead ") for f in own for part in f.stream.split("/") if part.startswith("lead ")
    }
    names = [*(str(pid) for pid in sorted(pids)), *sorted(leads)]
    names += [
        f"{what} {rank}" for what in ("rank", "Rank", "worker", "process", "task", "proc", "stage", "shard")
    ]
    found = (around.ended(source, names) for source in range(min(len(job.sources), _LOGS)))
    return [e for e in found if e is not None][:1]


_LOGS = 16
"""Logs in which somebody else may tell how a process ended."""
