"""The exit status with which a script that ran the job closes its log: ``rc=0``, ``train.py exited with 1``.

A zero is worth little right below an error: the pipe of a shell hides the status of all but its last command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from triage.model import Block, Evidence, Finding, Source
from triage.scan.lazy import deferred
from triage.scan.prefix import split_line
from triage.scan.said import without_digits
from triage.scan.tail import speaks_of_trouble
from triage.text import safe
from triage.text.signals import SIGNALS

WELL, BADLY = "progress.status-zero", "host.exit-status"
_LONGEST = 200
_STATUS = deferred(
    r"(?!.*\b(?:errors?|fail\w*|warn\w*)\b)\W{0,3}(?:[\w./+-]{1,40}:?[ ]){0,4}?"
    r"(?:rc|ret|(?:exit|return)[ _]?(?:code|status|value)|exit(?:ed|s)?|returned|status"
    r"|(?:finished|ended|terminated|completed|done)[ ](?=with\b)"
    r"|(?:mpirun|mpiexec|srun|torchrun|deepspeed|[\w-]{1,40}\.(?:py|sh))(?=:? *\d))"
    r"(?:[ ]?(?:with|code|status|value|rc))*[ ]?[:=]?[ ]*(?P<status>\d{1,3})\W?",
    re.IGNORECASE,
)
_MOST = 255
_KILLED = 128
"""What shells add to the number of the signal that a program died of."""


def closing_status(block: Block, source: Source, index: int) -> Iterator[Finding]:
    """The status that the last line of a log states, where it is nothing else than that."""
    data = block.data.rstrip()
    start = data.rfind(b"\n") + 1
    if not data or len(data) - start > _LONGEST:
        return
    text = data[start:].decode("utf-8", "replace")
    prefix, message = split_line(text)
    found = _STATUS.fullmatch(message.strip())
    if found is None or int(found["status"]) > _MOST:
        return
    status = int(found["status"])
    above = data[:start].rstrip().rpartition(b"\n")[2].decode("utf-8", "replace")
    number, offset = block.line + data.count(b"\n", 0, start), block.offset + start
    trouble = without_digits(above) if speaks_of_trouble(above) else None
    rank = prefix.rank if prefix.rank is not None else source.rank
    yield Finding(
        rule_id=BADLY if status else WELL,
        fields={"exit_code": status, "signal": SIGNALS.get(status - _KILLED)} if status else {"_below": trouble},
        evidence=(Evidence(source.name, number, safe(text)),), source=index, offset=offset,
        rank=rank, host=prefix.host or source.host, time=prefix.time, stream=prefix.stream,
    )  # fmt: skip
