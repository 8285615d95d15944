"""Logs that are called after hosts, where only what is said elsewhere shows that such a name is a host's.

``dmesg_cn305a.txt`` might be of anything; beside an agent that tells of processes on ``cn305a`` it is of that node.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.nodes import NOWHERE, short

_DEPTH = 3
"""Last parts of a path that may be called after a host."""
_SHORTEST = 3
_FEWEST = 2
"""Logs of as many hosts by which it shows that each host has its own."""
_OF_NODES = frozenset({"kernel-log"})


def place_logs(job: Job) -> None:
    """Note the hosts of logs where each host has its own, and of those that tell of nothing but a node."""
    hosts = _names(_told(item) for item in job.items)
    found = {
        index: host
        for index, source in enumerate(job.sources)
        if source.host is None and (host := _called(source.path or source.name, hosts)) is not None
    }
    if len(set(found.values())) < _FEWEST:
        of_nodes = {
            i.finding.source for i in job.items if i.rule.origin == "node" or i.rule.fact in _OF_NODES
        }
        found = {index: host for index, host in found.items() if index in of_nodes}
    if not found:
        return
    job.sources = [
        replace(source, host=found[index]) if index in found else source
        for index, source in enumerate(job.sources)
    ]
    _place(job, found)


def place_daemons(job: Job, hosts: Iterable[str | None]) -> None:
    """Note the host of what stands in other logs called after one of ``hosts``: those of a kernel or a daemon.

    A log in which a rank speaks, or a host is named before a line, stays as it is: it may be that of the whole job,
    called after the node that kept it.
    """
    names = {host for host in _names(hosts) if re.search(r"[a-z]", host)}
    taken = {i.finding.source for i in job.items if i.rank is not None or i.finding.host is not None}
    found = {
        index: host
        for index, source in enumerate(job.sources)
        if source.path is not None
        and index not in taken
        and source.rank is None
        and source.local_rank is None
        if (host := _called(source.path, names)) is not None
    }
    _place(job, found)


def _place(job: Job, hosts: Mapping[int, str]) -> None:
    """Give what is said in a log by nobody's host that of the log."""
    job.exchange(
        {
            id(item): Item(replace(item.finding, host=host), item.rule)
            for item in job.items
            if item.finding.host is None and (host := hosts.get(item.finding.source)) is not None
        }
    )


def _told(item: Item) -> str | None:
    """The host that a line names of a process: its writer's, or one of which a launcher tells."""
    host = item.text("host") if item.rule.fact in {"rank-exit", "identity"} else None
    return item.finding.host if host is None else host


def _names(hosts: Iterable[str | None]) -> set[str]:
    """The names of hosts without their domains; those that could be any word are left out."""
    names = {short(host).lower() for host in hosts if host is not None and host not in NOWHERE}
    return {name for name in names if len(name) >= _SHORTEST and any(map(str.isdigit, name))}


def _called(path: str, hosts: Collection[str]) -> str | None:
    """The one of ``hosts`` after which a log is called, or else its folder."""
    for part in reversed(path.lower().split("/")[-_DEPTH:]):
        told = {host for host in hosts if host in part and re.search(_WHOLE.format(re.escape(host)), part)}
        told -= {host for host in told if any(host in other for other in told - {host})}
        if len(told) == 1:
            return told.pop()
    return None


_WHOLE = r"(?<![a-z0-9]){}(?![a-z0-9]|-\d)"
"""A name that is no part of a longer one."""
