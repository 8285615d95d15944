"""Where the ranks of processes begin that a program on each node starts by itself, by what they say of themselves.

``torch.multiprocessing.spawn`` and Lightning count the processes of their own node from 0; each of them says as which
rank of the whole job it comes up.
"""

from __future__ import annotations

from collections import defaultdict

from triage.diagnosis.job import Job
from triage.diagnosis.ranks.nodes import Nodes

_PARENT = "torch.spawn-raised"


def note_spawned(job: Job, nodes: Nodes, world_size: int | None) -> bool:
    """Note the first rank of each log in which a parent tells of its processes; whether there are several nodes."""
    introduced: dict[int, set[int]] = defaultdict(set)
    for item in job.of_fact("identity"):
        rank = item.number("rank")
        if rank is not None and not item.finding.stream:
            introduced[item.finding.source].add(rank)
    parents = {i.finding.source for i in job.of_rule(_PARENT) if not i.finding.stream}
    several = False
    for source, ranks in introduced.items():
        count, first = len(ranks), min(ranks)
        others = set().union(*(told for other, told in introduced.items() if other != source))
        whole = count > 1 and first % count == 0 and max(ranks) - first + 1 == count
        beyond = bool(others - ranks) or (world_size is not None and world_size > count)
        if source in parents and whole and beyond and ranks.isdisjoint(others):
            nodes.note((source, ""), first)
            several = True
    return several
