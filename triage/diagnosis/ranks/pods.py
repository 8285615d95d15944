"""Pods and the ranks in them: pods are numbered as the parts of their job are, and each holds as many ranks as the next.

``bert-master-0`` is the first part of a PyTorchJob and ``bert-worker-0`` the second; where there is no master, the pods
of an MPIJob, of an indexed Job or of a StatefulSet count from 0 on. How many ranks each holds is told by the number of
all of them, or by those that spoke in the logs of pods; where these do not fit, nothing is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from triage.diagnosis.job import Job
from triage.diagnosis.ranks.containers import number_of_pod
from triage.diagnosis.ranks.nodes import short
from triage.diagnosis.ranks.seats import Identities, bare
from triage.scan.lazy import deferred

_ROLE = deferred(r"(?P<job>.+)-(?P<role>[a-z]+)")
_FIRST = frozenset({"master", "chief"})
"""Who holds the first ranks, before all workers."""
_BESIDE = frozenset({"launcher", "ps", "evaluator", "head", "scheduler", "server"})
"""Who starts or serves ranks and is none."""
_AT_WORK = frozenset({"Running", "NotReady", "Completed", "Succeeded", "Terminating"})
"""What a list of pods says of those whose program runs, has run or is being ended."""
_FEWEST = 2
_MOST = 65_536


@dataclass(slots=True)
class _Team:
    """The pods of one job that may hold ranks."""

    first: str | None = None
    workers: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The names of each number: who is started anew may be called otherwise."""

    @property
    def places(self) -> int:
        """How many pods there are, if the one with the greatest number is known."""
        return (self.first is not None) + max(self.workers, default=-1) + 1

    @property
    def complete(self) -> bool:
        """Whether all numbers are known from 0 on."""
        return len(self.workers) == max(self.workers, default=-1) + 1

    def pods(self) -> Iterator[tuple[int, str]]:
        """Each pod with its place among all."""
        if self.first is not None:
            yield 0, self.first
        for number, names in sorted(self.workers.items()):
            for name in sorted(names):
                yield number + (self.first is not None), name


def note_pods(job: Job, table: Identities, size: int | None) -> None:
    """Record the ranks of pods, those of the nodes on which they run, and who is not at work.

    Args:
        size: how many ranks there are, if that is known.
    """
    teams = _teams(_names(job, table))
    spoken = {name: _spoken(table, name) for team in teams for _, name in team.pods()}
    heard = [team for team in teams if any(spoken[name] for _, name in team.pods())]
    for team in heard or teams:
        each = _each(team, spoken, size)
        if each is not None and (heard or len(teams) == 1):
            for place, name in team.pods():
                table.pods[name] = tuple(range(place * each, (place + 1) * each))
            if table.world_size is None and team.complete and team.places * each == size:
                table.world_size = size
    silent = [team for team in teams if team not in heard]
    if len(silent) == 1 and _counted_alike(silent[0], table):
        for number, name in silent[0].pods():
            table.pods.setdefault(name, (number,))
    if table.pods:
        _nodes(job, table)


def _names(job: Job, table: Identities) -> set[str]:
    """All pods that something speaks of or that wrote a log."""
    told = {item.text("pod") for item in job.items} | {seat.host for seat in table.seats.values()}
    return {name for name in told if name is not None} | set(table._of_log)


def _teams(names: Collection[str]) -> list[_Team]:
    """The pods of each job; those that cannot hold ranks are left out."""
    workers: dict[tuple[str, str | None], _Team] = defaultdict(_Team)
    first: dict[str, str] = {}
    for name in sorted(names):
        numbered = number_of_pod(name)
        if numbered is None:
            continue
        of, number = numbered
        named = _ROLE.fullmatch(of)
        role = named["role"] if named is not None else None
        if role in _BESIDE:
            continue
        if named is not None and role in _FIRST:
            first[named["job"]] = name
        elif named is not None and role == "worker":
            workers[named["job"], role].workers[number].add(name)
        else:
            workers[of, None].workers[number].add(name)
    for job, name in first.items():
        if (job, "worker") in workers:
            workers[job, "worker"].first = name
    return list(workers.values())


def _spoken(table: Identities, pod: str) -> frozenset[int]:
    """The ranks that are known to be in a pod by its log or by the host that they name."""
    return frozenset(table._of_log.get(pod, ())) | {
        rank for rank, seat in table.seats.items() if seat.host == pod
    }


def _each(team: _Team, spoken: dict[str, frozenset[int]], size: int | None) -> int | None:
    """How many ranks each pod of a team holds, None where that is not told or lines say otherwise."""
    pods = [(place, spoken[name]) for place, name in team.pods()]
    witnesses = sum(bool(ranks) for _, ranks in pods)
    found = set()
    if size is not None and 1 < team.places <= size < 2 * team.places:
        found.add(1)  # two each would be more than there are, whichever pods are not told
    elif size is not None and team.complete and size % team.places == 0 and team.places > 1:
        found.add(size // team.places)
    numbers = {len(ranks) for _, ranks in pods if ranks}
    if len(numbers) == 1 and witnesses >= _FEWEST:
        found |= numbers
    fitting = {each for each in found if all(_fits(place, ranks, each) for place, ranks in pods)}
    return fitting.pop() if len(fitting) == 1 else None


def _counted_alike(team: _Team, table: Identities) -> bool:
    """Whether those who write are ranks by numbers that are also those of all of a team's pods: ``task-5`` of ``moe-5``."""
    if team.first is not None:
        return False
    ranks: dict[str, dict[int, int]] = defaultdict(dict)
    for (_, name), rank in table.writers.items():
        numbered = number_of_pod(bare(name).partition(":")[0])
        if numbered is not None:
            ranks[numbered[0]][numbered[1]] = rank
    return any(
        team.workers.keys() <= held.keys() and all(number == rank for number, rank in held.items())
        for held in ranks.values()
    )


def _fits(place: int, ranks: Collection[int], each: int) -> bool:
    """Whether ranks may be in the pod at a place among pods of ``each``."""
    return all(rank // each == place for rank in ranks) and (place + 1) * each <= _MOST


def _nodes(job: Job, table: Identities) -> None:
    """Note the ranks of the nodes of which something says that pods run there, and which pods are not at work."""
    held: dict[str, set[int]] = defaultdict(set)
    for item in job.of_fact("pod"):
        pod, node, status = item.text("pod"), item.text("node"), item.text("status")
        if pod is None:
            continue
        ranks = table.pods.get(pod, ())
        if node is not None:
            held[short(node)].update(ranks)
        if status is not None:
            table.statuses[pod] = status
            table.idle = table.idle - {*ranks} if status in _AT_WORK else table.idle | {*ranks}
    for node, found in held.items():
        if found:
            table.residents.setdefault(node, tuple(sorted(found)))
