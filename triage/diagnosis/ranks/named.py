"""What the processes of a job are called, so that whoever tells of one by its name tells of a rank.

A name stands before lines, or is that of a log, or is what a launcher calls a process of which it says how it ended.
Names that count from zero without a gap number the ranks; nodes, attempts and the like are counted too, and are none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from triage.diagnosis.job import Job
from triage.diagnosis.ranks.seats import Identities, bare
from triage.scan.lazy import deferred
from triage.sources.labels import stem

FEWEST = 3
"""Writers or logs that are counted, where nothing else tells that they are processes."""
FEWEST_CHILDREN = 2
"""The same of those that a launcher saw end."""
_NO_PROCESSES = frozenset(
    ["node", "host", "machine", "server", "attempt", "try", "run", "job", "restart", "log", "part", "step", "epoch"]
)  # fmt: skip
"""What else writers and logs are counted by."""
_NAMELESS = deferred(r"\Z|(?:pid|task|seat|rank|local_rank|default|node|host)[ :_-]?\d|[A-Z]{2,3}\d")
"""What stands there and is a number, a pid or a seat, not a name."""
_COUNTED = deferred(r"(?P<word>[A-Za-z]*)[ _#-]{0,2}(?P<number>\d{1,5})(?:@(?P<pid>\d{2,8}))?")
"""``shard 6``, ``w-03``, ``P3@18297``, and a number alone."""


def name_processes(job: Job, table: Identities, writers: Iterable[str]) -> None:
    """Record in ``table`` what each rank is called, and the pids that stand in names.

    Args:
        writers: the names in front of lines.
    """
    for item in job.items:
        finding = item.finding
        if finding.rank is not None and finding.stream:
            for part in finding.stream.split("/"):
                table.name(part, finding.rank)
    writers = list(writers)
    stems: list[str] = []
    for source in job.sources:
        name = stem(source.path or source.name)
        if source.rank is None:
            stems.append(name)
        else:
            table.name(name, source.rank)
    _count([*stems, *map(bare, writers)], table, FEWEST, _NO_PROCESSES)
    _count([item.text("name") or "" for item in job.of_fact("rank-exit")], table, FEWEST_CHILDREN)
    _last_of_all(writers, table)


def _last_of_all(writers: Iterable[str], table: Identities) -> None:
    """Name the one writer whose rank nobody tells, where those of all others leave one number free."""
    ranks = {name: table.rank_of_name(name) for name in set(writers) if _NAMELESS.match(name) is None}
    unknown = [name for name, rank in ranks.items() if rank is None]
    free = set(range(len(ranks))) - set(ranks.values())
    if len(ranks) >= FEWEST and len(unknown) == 1 and len(free) == 1:
        table.name(unknown[0], free.pop())


def _count(
    names: Iterable[str], table: Identities, fewest: int, others: frozenset[str] = frozenset()
) -> None:
    """Record the names of each kind that count from zero without a gap, if there are as many as ``fewest``."""
    kinds: dict[str, dict[int, tuple[str, str | None]]] = defaultdict(dict)
    for name in names:
        found = _COUNTED.fullmatch(name)
        if found is not None and found["word"].lower() not in others:
            kinds[found["word"].lower()][int(found["number"])] = name.partition("@")[0], found["pid"]
    for numbered in kinds.values():
        if len(numbered) < fewest or sorted(numbered) != list(range(len(numbered))):
            continue
        for number, (name, pid) in numbered.items():
            table.name(name, number)
            if pid is not None:
                table.note(number, pid=int(pid))
