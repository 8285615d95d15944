"""A number in the names of logs that is another in each of them, whatever else in the names varies.

``cn462a.2.log`` and ``cn107b.3.log`` differ in the host too. Where such numbers count all logs from 0 on, across hosts,
they are those of processes: what is counted on each host comes again on the next.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from triage.diagnosis.job import Job
from triage.diagnosis.ranks.heard import Heard, Place
from triage.diagnosis.ranks.launchers import by_launcher
from triage.scan.lazy import compiled, deferred

_NUMBER = deferred(r"\d{1,6}")
_DEPTH = 2
"""Last parts of a path in which a number may stand."""
_FEWEST = 4
"""Logs by which it shows."""
_SURE = 3
"""Logs whose numbers are those that torch itself says there, by which the others' are known."""
_Column = dict[int, list[tuple[int, str]]]
"""For each number the sources, and their names without it."""


def columns(
    job: Job, heard: Mapping[Place, Heard], beside: Collection[int], world_size: int | None
) -> dict[Place, int]:
    """The ranks of logs by the one number that tells all of them apart.

    Args:
        beside: sources in which no process of the job writes.
    """
    logs = [i for i, s in enumerate(job.sources) if s.rank is None and i not in beside]
    found: dict[tuple[str, str], _Column] = defaultdict(lambda: defaultdict(list))
    for index in logs:
        for head, number, tail in _numbered(job.sources[index].path or job.sources[index].name):
            found[_mark(head), tail[:1]][number].append((index, f"{head}\0{tail}"))
    for column in found.values():
        members = {index for rows in column.values() for index, _ in rows}
        first, *names = sorted({name for rows in column.values() for _, name in rows})
        complete = sorted(column) == list(range(len(column)))
        if members != set(logs) or len(column) < _FEWEST or not complete:
            continue
        if all(of_one_process(first, name) for name in names):
            continue  # they differ in this number only
        if any(not of_one_process(rows[0][1], name) for rows in column.values() for _, name in rows[1:]):
            continue  # the same number stands on several hosts
        if _are_ranks(column, heard, world_size):
            return {(index, ""): number for number, rows in column.items() for index, _ in rows}
    return {}


def _numbered(path: str) -> Iterator[tuple[str, int, str]]:
    """What stands before a number in the name, the number, and what stands behind it."""
    parts = path.split("/")
    folder, name = "/".join(parts[:-_DEPTH]), "/".join(parts[-_DEPTH:])
    for found in _NUMBER.finditer(name):
        before, after = name[: found.start()], name[found.end() :]
        if not before[-1:].isdigit() and not after[:1].isdigit():
            yield f"{folder}/{before}", int(found[0]), after


def _mark(head: str) -> str:
    """What stands right before a number: a sign, or the word that names what it counts."""
    found = re.search(r"(?:[A-Za-z]+|[^A-Za-z0-9])\Z", head)
    return found[0] if found is not None else ""


def _are_ranks(column: _Column, heard: Mapping[Place, Heard], world_size: int | None) -> bool:
    """Whether what was said in the logs shows that their numbers are ranks, and nothing that they are not."""
    agree, met = 0, False
    for number, rows in column.items():
        said = [heard[index, ""] for index, _ in rows if (index, "") in heard]
        told = {rank for at in said for rank in at.ranks or at.tags}
        if any(at.launcher or len(at.local_ranks) > 1 for at in said) or not told <= {number}:
            return False
        agree += bool(told)
        met = met or any(at.met for at in said)
    return agree >= _SURE or met or len(column) == world_size


def of_one_process(name: str, other: str) -> bool:
    """Whether two names that number processes may be of the same ones: of their output and their errors, not of two hosts."""
    parts, others = (compiled(r"[^._/-]+").findall(n) for n in (name, other))
    return len(parts) != len(others) or not any(
        one != two and any(map(str.isdigit, one + two)) for one, two in zip(parts, others, strict=True)
    )


def silent_sources(job: Job) -> frozenset[int]:
    """The sources in which no rank writes: those of the kernel, and of what starts ranks from elsewhere."""
    of_others: set[int] = set()
    of_ranks: set[int] = set()
    of_clusters: set[int] = set()
    for item in job.items:
        if item.reader in _OF_CLUSTERS:
            of_clusters.add(item.finding.source)
        of_node = item.rule.origin == "node" or "pci" in item.rule.origin_fields
        if of_node or item.rule.fact == "kernel-log" or by_launcher(item):
            of_others.add(item.finding.source)
        elif item.rule.role in {"cause", "symptom"} and not item.rule.id.startswith(_BY_SCAN):
            of_ranks.add(item.finding.source)
    return frozenset((of_others - of_ranks) | of_clusters)


_OF_CLUSTERS = frozenset({"kubernetes", "sacct"})
"""Readers of what who runs the cluster says of jobs, whatever words stand there."""
_BY_SCAN = "progress."
"""Facts about lines of whomever."""


def of_a_later_node(tagged: Mapping[int, Collection[int]], held: int) -> int | None:
    """What makes ranks of the numbers that a node other than the first gives its processes, by what several say."""
    found = {rank - number for number, told in tagged.items() for rank in told}
    shift = next(iter(found)) if len(found) == 1 and len(tagged) > 1 else 0
    return shift if shift > 0 and shift % held == 0 else None
