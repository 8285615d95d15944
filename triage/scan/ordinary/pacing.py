"""What one writer alone says again and again, with a number that rises: it is at something of its own, and moves on.

Whether others waited for it meanwhile is for the ledger to tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triage.model import Finding, Source
from triage.scan.counting import counts_of, counts_on
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.said import Said, Wanted, finding_of

RULE = "progress.own-pace"
FEWEST = 4
"""Lines by which it shows."""
_IDLE = (
    r"(?i)\b(?:wait(?:s|ed|ing)?|retr(?:y|ies|ied|ying)|attempts?|try|tries|still|alive|heart-?beats?|hung|hang(?:s|ing)?|stuck|stall\w*"
    r"|stragg\w*|time-?outs?|timed out|idle|poll\w*|sleep\w*|back-?off|blocked|no (?:progress|response|reply|answer))\b"
)
"""What is said of those who count time and not work."""
_MAY_TELL = deferred(rb"[A-Za-z]{3}[^\n]*\d")
MAX_LINES = 60
"""Lines of each source that are looked at on each side of where trouble began, fewer where there are many sources."""
MAX_LINES_IN_ALL = 2_000
FEWEST_LINES = 8
PACED = Wanted(_MAY_TELL, MAX_LINES_IN_ALL, FEWEST_LINES, MAX_LINES)
"""The lines that may count something, whatever it is."""


def own_pace(said: Sequence[Said], sources: Sequence[Source]) -> list[Finding]:
    """The lines that one writer alone says and counts on in, from the first to the last of each kind."""
    rows: dict[tuple[str | None, int, str], list[tuple[Said, list[float]]]] = defaultdict(list)
    speakers: dict[str, set[str | None]] = defaultdict(set)
    for line in sorted(said, key=lambda one: (one.source, one.offset)):
        told = counts_of(line.message)
        if told is None:
            continue
        shape, numbers = told
        speakers[shape].add(line.writer)
        if compiled(_IDLE).search(line.message) is None:
            rows[line.writer, line.source, shape].append((line, numbers))
    found = []
    for (_, _, shape), told_so in rows.items():
        lines, numbers_of = zip(*told_so, strict=True)
        if (
            len(speakers[shape]) == 1
            and len(lines) >= FEWEST
            and counts_on(numbers_of[-FEWEST:-1], numbers_of[-1:])
        ):
            words = " ".join(lines[-1].message.split())[:160]
            found.append(finding_of(RULE, lines[-FEWEST], sources, {"words": words}, last=lines[-1]))
    return found
