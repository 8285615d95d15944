"""Logs that are called after hosts, where only what is said elsewhere shows that such a name is a host's.

``dmesg_cn305a.txt`` might be of anything; beside an agent that tells of processes on ``cn305a`` it is of that node.
"""

from __future__ import annotations

import re
from collections.abc import Collection
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
    """Note the hosts of logs that are called after one that lines name, and of what is said there by nobody's host."""
    known = {short(host) for item in job.items if (host := _told(item)) is not None}
    known = {host for host in known if len(host) >= _SHORTEST and any(map(str.isdigit, host))}
    if not known:
        return
    found: dict[int, str] = {}
    for index, source in enumerate(job.sources):
        if source.host is None and (host := _called(source.path or source.name, known)):
            found[index] = host
    of_nodes = {i.finding.source for i in job.items if i.rule.origin == "node" or i.rule.fact in _OF_NODES}
    if len(set(found.values())) < _FEWEST:
        found = {index: host for index, host in found.items() if index in of_nodes}
    if not found:
        return
    job.sources = [
        replace(source, host=found[index]) if index in found else source
        for index, source in enumerate(job.sources)
    ]
    job.items = [
        Item(replace(item.finding, host=host), item.rule)
        if item.finding.host is None and (host := found.get(item.finding.source)) is not None
        else item
        for item in job.items
    ]
    job.index()


def _told(item: Item) -> str | None:
    """The host that a line names of a process: its writer's, or one of which a launcher tells."""
    host = item.text("host") if item.rule.fact in {"rank-exit", "identity"} else None
    host = item.finding.host if host is None else host
    return None if host in NOWHERE else host


def _called(path: str, hosts: Collection[str]) -> str | None:
    """The one of ``hosts`` after which a log or its folder is called."""
    name = "/".join(path.split("/")[-_DEPTH:])
    here = {
        host for host in hosts if host in name and re.search(_WHOLE.format(re.escape(host)), name) is not None
    }
    return here.pop() if len(here) == 1 else None


_WHOLE = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9]|-\d)"
"""A name that is no part of a longer one."""
