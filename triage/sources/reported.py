"""Logs in which a batch system's report of how a job ended stands above the output that the job had written before.

LSF writes the report at the head of what ``bsub -o`` names, and the output under ``The output (if any) follows:``. Read
from above, the job would seem to have worked on after its end.
"""

from __future__ import annotations

import re

LARGEST = 8 << 20
"""Bytes in which reports are looked for."""
_REPORT = re.compile(rb"^(?:-{20,}\r?\n)?Sender: LSF System <", re.MULTILINE)
_FOLLOWS = re.compile(rb"^The output \(if any\) follows:[ \t\r]*\n(?:\r?\n)*", re.MULTILINE)
_REACH = 16 << 10
"""Bytes of a report, the script that it quotes among them."""
NOTE = "reports of its batch system stand above the output that they are about: each was read below it, and lines are counted so"


def output_first(data: bytes) -> bytes | None:
    """``data`` with each report below the output that it announces; None where none stands above."""
    if len(data) > LARGEST or _FOLLOWS.search(data) is None:
        return None
    begins = [found.start() for found in _REPORT.finditer(data)]
    parts = [data[: begins[0]]] if begins else []
    for begin, end in zip(begins, [*begins[1:], len(data)], strict=True):
        follows = _FOLLOWS.search(data, begin, min(end, begin + _REACH))
        at = begin if follows is None else follows.end()
        output = data[at:end]
        parts += [output, b"" if output.endswith(b"\n") or not output else b"\n", data[begin:at]]
    whole = b"".join(parts)
    return None if whole == data or not begins else whole
