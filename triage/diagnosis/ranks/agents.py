"""What agents tell of the processes of their nodes, where each node's log is its own agent's.

``rank : 5 (local_rank: 1)`` in a table says that its agent's node begins with rank 4. In a log of several nodes that
may be any of them; where other logs are other agents', all of a log is its own node's. An agent also lists, by their
pids and in their order, the processes that still lived when it ended them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from triage.diagnosis.job import Job
from triage.diagnosis.ranks.nodes import Place, around
from triage.diagnosis.ranks.seats import Identities

_FEWEST = 2
"""Logs of agents by which it shows that each node has one of its own."""
_CLOSING = "torch.closing-signal"
"""The rule of what an agent says when it ends the processes of its node."""


@dataclass(slots=True, eq=False, repr=False)
class _Agent:
    """What one agent tells."""

    firsts: set[int] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    ended: dict[int, int] = field(default_factory=dict)
    """The local ranks of processes that ended by themselves, by their pids."""
    told_to_end: dict[int, None] = field(default_factory=dict)
    """The pids of all others, in the order of their local ranks."""

    @property
    def first(self) -> int | None:
        """The first rank of its node."""
        alone = len(self.firsts) == 1 and len(self.hosts) == 1
        return next(iter(self.firsts)) if alone else None

    def processes(self) -> dict[int, int]:
        """The local ranks of all its processes, by their pids; none where it did not tell of all."""
        left = [pid for pid in self.told_to_end if pid not in self.ended]
        places = sorted(set(range(len(left) + len(self.ended))) - set(self.ended.values()))
        return self.ended | dict(zip(left, places, strict=True)) if len(places) == len(left) else {}


def note_agents(job: Job, table: Identities) -> None:
    """Note where each log's node begins that has one agent, and what ranks its processes are."""
    agents = _agents(job)
    sources = [source for source, _ in agents]
    if len(sources) < _FEWEST or len(set(sources)) < len(sources):
        return
    found = {place: agent.processes() for place, agent in agents.items()}
    equal = len({len(processes) for processes in found.values()}) == 1
    for place, agent in agents.items():
        if (first := agent.first) is None:
            continue
        table.nodes.note(place, first)
        for pid, local_rank in found[place].items() if equal else ():
            table.note(first + local_rank, host=next(iter(agent.hosts)), local_rank=local_rank, pid=pid)


def _agents(job: Job) -> Mapping[Place, _Agent]:
    agents: dict[Place, _Agent] = defaultdict(_Agent)
    for item in job.of_fact("rank-exit"):
        rank, local_rank, host = item.number("rank"), item.number("local_rank"), item.text("host")
        if local_rank is None:
            continue
        agent = agents[item.finding.source, around(item.finding)]
        if (pid := item.number("pid")) is not None:
            agent.ended[pid] = local_rank
        if rank is not None and host is not None:
            agent.firsts.add(rank - local_rank)
            agent.hosts.add(host)
    for item in sorted(job.of_rule(_CLOSING), key=lambda i: (i.finding.source, i.finding.offset)):
        if (pid := item.number("pid")) is not None:
            agents[item.finding.source, around(item.finding)].told_to_end[pid] = None
    return agents
