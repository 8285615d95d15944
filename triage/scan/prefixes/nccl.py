"""``host:pid:tid [device] file:line NCCL WARN ``: NCCL and RCCL."""

from __future__ import annotations

from triage.scan.lazy import Lazy
from triage.scan.prefixes.draft import Draft

# plug-ins put a whole C++ signature where the file name belongs, so only the ends are strict
_NCCL = Lazy(
    r"([A-Za-z0-9][\w.-]{0,254}):(\d{1,10}):\d+ \[(-?\d{1,9})\] (?:\d+\.\d+ )?([^\n]{0,400}?) ?"
    r"\b(?=NCCL (WARN|INFO|TRACE|CALL|ABORT|VERSION)\b)"
)
_LEVELS = {"WARN": "warning", "ABORT": "error", "INFO": "info", "VERSION": "info"}
_REACH = 700
"""Characters within which ``NCCL`` has to follow."""


def nccl(text: str, at: int, draft: Draft) -> int:
    """Take off what comes before ``NCCL WARN``; the words stay, rules recognise messages by them.

    The device is the ordinal of the calling thread among the visible devices, and 0 for threads
    that never chose one.
    """
    if text.find("NCCL ", at, at + _REACH) < 0:
        return at
    found = _NCCL.match(text, at)
    if found is None:
        return at
    host, pid, device, file, kind = found.groups()
    draft.host = host
    draft.pid = int(pid)
    draft.gpu = int(device) if int(device) >= 0 else None
    draft.logger = file or None
    draft.severity(_LEVELS.get(kind, "debug"))
    return found.end()
