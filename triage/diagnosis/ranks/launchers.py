"""Prefixes that wrap a whole launcher: their task number is no rank, their pid is no rank's process.

``srun -l torchrun …`` puts ``0: `` before what all the ranks of a node print, a container runtime the
pod, journald the unit's pid. By its own line such a prefix can't be told from that of a single rank;
what else was said under it shows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from triage.diagnosis.job import Item
from triage.model import Finding
from triage.scan.lazy import deferred
from triage.scan.prefixes.launchers import sglang_rank

_TASK = deferred(r"task (\d+)")
_FOREIGN = deferred(
    r"^\s{0,3}\[?\d[^(\n]{0,40}\([A-Z]\w{2,60}(?: \w{1,40})? pid=\d{1,10}(?:, ip=[^\s)]{1,64})?\) "
)
"""The name that Ray's driver and vLLM's server put before lines, under a task's number."""
ONE_PROCESS = deferred(r"(?:rank|default|worker|trainer|local_?rank|task |pid )\d|[A-Z_]+\d")
"""Parts of a stream that name one process, or may; the others name a place: a host, a pod."""
LOCAL_RANK = deferred(r"(?:default|worker|trainer|local_?rank)\d+")
_LAUNCHER_FACTS = frozenset({"rank-exit", "restart", "rendezvous", "survivor", "external-stop"})
"""What only launchers say."""
_OF_ITSELF = frozenset({"host.signal-handler", "mpi.received-signal", "host.exit-status"})
"""What a process also says of its own end."""

_Wrapper = tuple[int, str | None, str]
"""Source, host and name of a prefix that may stand for one process or for many."""


@dataclass(slots=True, eq=False, repr=False)
class _Told:
    """What was said under one outer prefix."""

    ranks: set[int] = field(default_factory=set)
    local_ranks: set[int] = field(default_factory=set)
    coordinates: set[tuple[tuple[str, int], ...]] = field(default_factory=set)
    launcher: bool = False

    @property
    def wraps(self) -> bool:
        """Whether more than one process spoke."""
        several = max(len(self.ranks), len(self.local_ranks), len(self.coordinates)) > 1
        return self.launcher or several


def unwrapped(
    items: Iterable[Item],
    selves: Collection[tuple[int, str]] = (),
    writers: Collection[tuple[int, str]] = (),
) -> list[Item]:
    """``items`` without the ranks, pids and writers that a prefix around a launcher seemed to name.

    Args:
        selves: sources and names of writers of which each said that it is one rank.
        writers: sources and names of all that write.
    """
    items = list(items)
    told: dict[_Wrapper, _Told] = defaultdict(_Told)
    streams: dict[int, set[str]] = defaultdict(set)
    for item in items:
        if item.finding.stream:
            streams[item.finding.source].add(item.finding.stream)
        for wrapper in _wrappers(item.finding):
            _listen(told[wrapper], item, wrapper[2])
    for source, name in {*selves, *writers}:
        if name and not name.startswith("pid ") and source in streams:
            streams[source].add(name)  # it has said nothing that a rule knows, and is there
    shared = {source: _shared(found) for source, found in streams.items()}
    return [_freed(item, told, shared.get(item.finding.source, ()), selves) for item in items]


def _wrappers(finding: Finding) -> list[_Wrapper]:
    """The prefixes of a line that may stand for one process or for a launcher."""
    names: list[_Wrapper] = [(finding.source, None, part) for part in _tasks(finding.stream)]
    if finding.pid is not None:
        names.append((finding.source, finding.host, f"pid {finding.pid}"))
    return names


@lru_cache(maxsize=4096)
def _tasks(stream: str) -> tuple[str, ...]:
    """The names of tasks in a stream; many lines have the same."""
    return tuple(part for part in stream.split("/") if _TASK.fullmatch(part))


def _listen(told: _Told, item: Item, name: str) -> None:
    finding = item.finding
    task = _TASK.fullmatch(name)
    if finding.rank is not None and f"rank{finding.rank}" in finding.stream.split("/"):
        told.ranks.add(finding.rank)
        # srun counts its tasks, torch its ranks: where they differ, one task is one node
        told.launcher = told.launcher or (task is not None and int(task[1]) != finding.rank)
    if finding.local_rank is not None:
        told.local_ranks.add(finding.local_rank)
        told.launcher = told.launcher or (task is not None and LOCAL_RANK.search(finding.stream) is not None)
    if task is not None and any(_FOREIGN.search(e.text) for e in finding.evidence[:1]):
        told.launcher = True  # a driver passes on what processes of its own print
    if finding.labels:
        told.coordinates.add(finding.labels)
        own = sglang_rank(dict(finding.labels))
        told.launcher = told.launcher or (task is not None and own is not None and own != int(task[1]))
    if task is not None or finding.stream.partition("/")[0].partition("@")[0] == name:
        told.launcher = told.launcher or by_launcher(item)


def by_launcher(item: Item) -> bool:
    """Whether only a launcher says so."""
    if item.rule.id in _OF_ITSELF:
        return False
    noise = item.rule.id == "torch.launcher-noise" and item.finding.rank is None  # a rank may be warned alike
    return noise or item.rule.fact in _LAUNCHER_FACTS


def _freed(
    item: Item, told: dict[_Wrapper, _Told], shared: Sequence[str], selves: Collection[tuple[int, str]]
) -> Item:
    """``item`` without what its wrappers seemed to say of its rank and process."""
    finding = item.finding
    parts = finding.stream.split("/")
    wrapped = {wrapper[2] for wrapper in _wrappers(finding) if told[wrapper].wraps}
    rank, pid = finding.rank, finding.pid
    if wrapped and rank is not None and f"task {rank}" in wrapped and f"rank{rank}" not in parts:
        rank = sglang_rank(dict(finding.labels))
    if f"pid {pid}" in wrapped and not by_launcher(item):
        pid = None
    kept = [
        part
        for at, part in enumerate(parts)
        if at >= len(shared)
        or part.startswith("lead ")
        or (finding.source, part) in selves
        or not (part.partition("@")[0] in wrapped or not ONE_PROCESS.match(part))
    ]
    if rank == finding.rank and pid == finding.pid and kept == parts:
        return item
    return Item(replace(finding, rank=rank, pid=pid, stream="/".join(kept)), item.rule)


def _shared(streams: Iterable[str]) -> Sequence[str]:
    """The outer parts that all the writers of a source have in common: they tell nobody apart."""
    first, *others = [stream.split("/") for stream in sorted(streams)]
    for at, part in enumerate(first):
        if any(len(other) <= at or other[at] != part for other in others):
            return first[:at]
    return first
