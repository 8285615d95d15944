"""``journalctl -o json``: a record a line, in which systemd says who wrote it, where and when."""

from __future__ import annotations

from collections.abc import Mapping

from triage.model import Moment
from triage.scan.prefixes.draft import Draft
from triage.scan.prefixes.system import written_by

_TIMES = ("__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP")
_PROGRAMS = ("SYSLOG_IDENTIFIER", "_COMM")


def unwrap_journal(data: Mapping[str, object], draft: Draft) -> str | None:
    """The message of a record, None where it is none: its time counts microseconds."""
    stamp = next((v for k in _TIMES if isinstance(v := data.get(k), str) and v.isdecimal()), None)
    message = _text(data.get("MESSAGE"))
    if stamp is None or message is None:
        return None
    draft.stamp(Moment(int(stamp[:20]) / 1e6, "wall", True), collected=True)
    host, pid = data.get("_HOSTNAME"), data.get("_PID") or data.get("SYSLOG_PID")
    program = next((v for k in _PROGRAMS if isinstance(v := data.get(k), str)), None)
    if isinstance(host, str) and program is not None:
        of = pid if isinstance(pid, str) and pid.isdecimal() and len(pid) < 10 else None
        written_by(draft, host, program, of)
    return message.rstrip("\r\n")


def _text(message: object) -> str | None:
    """What was written, which stands as a list of its bytes where it has control characters, such as colours."""
    if isinstance(message, list) and all(type(byte) is int and 0 <= byte < 256 for byte in message):
        return bytes(message).decode("utf-8", "replace")
    return message if isinstance(message, str) else None
