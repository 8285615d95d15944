"""``kubectl get pods``: a row for each pod, and with ``-o wide`` the node that it runs on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.readers.capture import Line
from triage.readers.kube_model import Pod

_HEADER = re.compile(r"\s*(?:NAMESPACE\s+)?NAME\s+READY\s+STATUS\s+RESTARTS\b")
_ROW = re.compile(
    r"\s*(?:(?P<namespace>[a-z0-9][a-z0-9-]*)\s+)?(?:pod/)?(?P<name>[a-z0-9][a-z0-9.-]*)\s+\d+/\d+\s+(?P<status>[A-Z][\w:/.-]*)"
    r"\s+\d+(?:\s+\([^)]*\))?\s+(?:[\dhmsy]*[dhmsy]|<\w+>)(?P<rest>(?:\s+\S+)*)\s*$"
)
"""Restarts may be followed by when the last one was: ``3 (5m ago)``; an age may be ``<unknown>`` or ``<invalid>``."""
_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}|[\da-f:]*:[\da-f:]+|<none>")
_NONE = "<none>"


def header(text: str) -> bool:
    """Whether a line is the head of such a table."""
    return _HEADER.match(text) is not None


def row(text: str) -> bool:
    """Whether a line may be one of its rows."""
    return _ROW.match(text) is not None


def pods(lines: Sequence[Line]) -> list[Pod]:
    """The pods that tables among ``lines`` list: rows without a head above them may be of anything."""
    found: list[Pod] = []
    within = False
    for line in lines:
        if header(line.text):
            within = True
            continue
        match = _ROW.match(line.text) if within else None
        if match is None:
            within = within and not line.text.strip()
            continue
        wide = match["rest"].split()
        node = wide[1] if len(wide) > 1 and _ADDRESS.fullmatch(wide[0]) else None
        found.append(
            Pod(
                name=match["name"], namespace=match["namespace"], status=match["status"], line=line,
                node=None if node == _NONE else node,
            )
        )  # fmt: skip
    return found
