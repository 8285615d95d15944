"""Who alone takes long, by the times that all writers state of themselves in the same words.

``it 12 compute 4.3 s sync 0.0 s`` of one rank and ``compute 0.05 s sync 4.2 s`` of all others: they wait for it. Where
they give up at last, the one that came late meets closed connections, and nothing else tells it from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from triage.model import Finding, Source
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import Said, finding_of

RULE = "progress.slower"
FEWEST = 3
"""Writers that state their times."""
LINES = 2
"""The last lines of each, of which all must tell the same."""
TIMES_AS_LONG = 3.0
LEAST = 0.5
"""Seconds that are worth a wait."""
_TIME = (
    r"(?i)(?:(?<![\w.-])|(?<=[=:]))(?P<bare>\d{1,6}(?:\.\d{1,6})?) ?(?P<unit>ms|s|sec(?:onds?|s)?)(?![\w/])"
    r"|(?:time|took|elapsed|duration|secs?|seconds|wait|compute|data|forward|backward|sync|comm)(?:[_ ]?(?:\(s\)|s|sec))?[\"']?"
    r"[:=] ?(?P<told>\d{1,6}\.\d{1,6})(?![\w/])"
)


_OF_WAITING = (
    r"(?i)(?:wait|sync|comm|barrier|reduce|gather|idle|all2all|all_to_all|block)\w*[\"']?"
    r"(?:[_ ]?(?:time|for|took))?[^\w\n]{0,3}\Z"
)
"""What stands before a time that one spends on others."""


def slower(said: Sequence[Said], sources: Sequence[Source]) -> list[Finding]:
    """The last line of the one writer that took much longer than all others, by its own times; none where no one did."""
    by_wording: dict[str, dict[str, list[tuple[Said, list[float]]]]] = defaultdict(lambda: defaultdict(list))
    for line in said:
        if line.writer is not None and (times := _times(line.message)):
            by_wording[line.wording][line.writer].append((line, times))
    found = {
        writer: rows[writer][-1][0]
        for rows in by_wording.values()
        if len(rows) >= FEWEST and (writer := _slowest(rows)) is not None
    }
    if len(found) != 1:
        return []
    (line,) = found.values()
    return [finding_of(RULE, line, sources, {"words": " ".join(line.message.split())[:160]})]


def _times(message: str) -> list[float]:
    """The times in a line that are its writer's own, in seconds; 0 for those that it waited for others."""
    return [
        0.0
        if compiled(_OF_WAITING).search(message[: time.start("bare" if time["bare"] else "told")])
        else float(time["bare"] or time["told"]) * (0.001 if time["unit"] == "ms" else 1.0)
        for time in compiled(_TIME).finditer(message)
    ]


def _slowest(rows: Mapping[str, Sequence[tuple[Said, Sequence[float]]]]) -> str | None:
    """The writer that exceeds all others in a column of times; None where another one does so in another column."""
    last = {writer: [times for _, times in told[-LINES:]] for writer, told in rows.items()}
    widths = {len(times) for told in last.values() for times in told}
    if len(widths) != 1 or any(len(told) < LINES for told in last.values()):
        return None
    slow = {
        _exceeds({w: [times[at] for times in told] for w, told in last.items()}) for at in range(widths.pop())
    }
    alone = slow - {None}
    return alone.pop() if len(alone) == 1 else None


def _exceeds(column: Mapping[str, Sequence[float]]) -> str | None:
    """The one writer whose times are all far beyond the longest of any other."""
    highest, *others = sorted(column, key=lambda writer: min(column[writer]), reverse=True)
    rest = max(max(column[writer]) for writer in others)
    least = min(column[highest])
    return highest if least >= LEAST and least >= TIMES_AS_LONG * rest else None
