"""Hosts that only the name of a log tells: that of a kernel log or of a daemon, in which no rank speaks.

A name such as ``dmesg-trn-a07.txt`` can be anything by itself; where the job's own lines call a host so, it is that host.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from posixpath import basename, dirname

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ranks.nodes import NOWHERE, short


def filed(job: Job, hosts: Iterable[str | None]) -> list[Item]:
    """The items of ``job``, those of logs called after one of ``hosts`` with that host.

    A log in which a rank speaks, or a host is named before a line, stays as it is: it may be that of the whole job,
    called after the node that kept it.
    """
    names = {
        name
        for host in hosts
        if host is not None and host not in NOWHERE
        if re.search(r"[a-z]", name := short(host).lower()) and any(map(str.isdecimal, name))
    }
    if not names:
        return job.items
    taken = {i.finding.source for i in job.items if i.rank is not None or i.finding.host is not None}
    found: dict[int, str] = {}
    for index, source in enumerate(job.sources):
        if source.path is None or index in taken or source.rank is not None or source.local_rank is not None:
            continue
        host = _called_after(source.path, names)
        if host is not None:
            found[index] = host
    return [
        Item(replace(i.finding, host=found[i.finding.source]), i.rule) if i.finding.source in found else i
        for i in job.items
    ]


def _called_after(path: str, names: set[str]) -> str | None:
    """The one of ``names`` in the name of a file, or in that of its directory."""
    for part in (basename(path), basename(dirname(path))):
        told = {
            name for name in names if re.search(rf"(?<![a-z\d]){re.escape(name)}(?![a-z\d])", part.lower())
        }
        told = {name for name in told if not any(name in other for other in told - {name})}
        if len(told) == 1:
            return told.pop()
    return None
