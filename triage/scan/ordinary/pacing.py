"""What one writer alone says again and again, with a number that rises: it is at something of its own, and moves on.

Whether others waited for it meanwhile is for the ledger to tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from triage.model import Finding, Source
from triage.scan.counting import counts_of, counts_on
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import Said, finding_of

RULE = "progress.own-pace"
FEWEST = 4
"""Lines by which it shows."""
_IDLE = (
    r"(?i)\b(?:wait(?:s|ed|ing)?|retr(?:y|ies|ied|ying)|attempts?|try|tries|still|alive|heart-?beats?|hung|hang(?:s|ing)?|stuck|stall\w*"
    r"|stragg\w*|time-?outs?|timed out|idle|poll\w*|sleep\w*|back-?off|blocked|no (?:progress|response|reply|answer))\b"
)
"""What is said of those who count time and not work."""


def own_pace(said: Sequence[Said], sources: Sequence[Source]) -> list[Finding]:
    """The lines that one writer alone says and counts on in, from the first to the last of each kind."""
    rows: dict[tuple[str, str], list[tuple[Said, list[float]]]] = defaultdict(list)
    speakers: dict[str, set[str | None]] = defaultdict(set)
    for line in sorted(said, key=lambda one: (one.source, one.offset)):
        told = counts_of(line.message)
        if told is None:
            continue
        shape, numbers = told
        speakers[shape].add(line.writer)
        if line.writer is not None and compiled(_IDLE).search(line.message) is None:
            rows[line.writer, shape].append((line, numbers))
    found = []
    for (_, shape), told_so in rows.items():
        lines, numbers_of = zip(*told_so, strict=True)
        if (
            len(speakers[shape]) == 1
            and len(lines) >= FEWEST
            and counts_on(numbers_of[-FEWEST:-1], numbers_of[-1:])
        ):
            words = " ".join(lines[-1].message.split())[:160]
            found.append(finding_of(RULE, lines[-FEWEST], sources, {"words": words}, last=lines[-1]))
    return found
