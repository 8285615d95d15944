"""Tracebacks in texts that a program shows: what a model was asked or has answered, sample after sample.

What such a text speaks of did not befall the program. Its label stands before the traceback, or alone on the line
above, and labels other texts of the same log too.
"""

from __future__ import annotations

import re

from triage.scan.lazy import deferred
from triage.scan.tracebacks.lines import HEADER

TIMES = 3
"""Texts under one label, so many at least, make it one."""
_LABEL = deferred(
    r"(?:^|.*?[\s\W])((?:model |final |predicted |generated |expected |reference |gold )?"
    r"(?:prompt|question|query|instruction|answer|completion|generation|response|reply|prediction|reference|ground[ _]?truth|solution"
    r"|assistant|user|human))"
    r"(?: ?[#(\[]?\d+[)\]]?)?[\"'*]{0,3} ?[:>=]+[\"'*`]{0,3}\s*",
    re.IGNORECASE,
)


def is_shown(raw: str, above: str | None, data: bytes) -> bool:
    """Whether a label of texts stands before the traceback on line ``raw``, or is all that the line ``above`` holds.

    Args:
        data: the log, or the stretch of it that is at hand.
    """
    before, _, _ = raw.partition(HEADER)
    found = _LABEL.fullmatch(before if before.strip(" \t\"'`*") else above or "")
    if found is None:
        return False
    label = re.escape(found[1].encode())
    return (
        len(re.findall(rb"(?:\A|[\s\W])" + label + rb"[^\w\n]{0,8}\d{0,6}[^\w\n]{0,4}[:>=]", data)) >= TIMES
    )
