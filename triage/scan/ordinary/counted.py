"""Work that a program counts as it goes: ``compacting segment 4/11``, and who is ahead of the others.

A rank that others wait for and that still counts on is at work, whatever the work is called; one that has
counted more steps than those that wait for it did not take part in all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triage.model import Finding, Source, Value
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.said import Said, Wanted, finding_of

WORK = "progress.counted-work"
AHEAD = "progress.ahead"
MAX_LINES = 400
"""Lines of each source that are looked at on each side of where trouble began, fewer where there are many sources."""
MAX_LINES_IN_ALL = 4_000
FEWEST_LINES = 8
FEWEST_WAITING = 2
"""Writers that must be behind one for it to be ahead."""
_OF = (
    r"(?<![\w./:-])(\d{1,7})(?: {0,3}(?:/|of|out of) {0,4}|[,;]? ?[\"']?(?:out_)?(?:of|total)[\"']?(?:: ?|=))"
    r"(\d{1,7})(?![\w./:-]|\d)"
)
_STEPS = r"(?i:steps?|iter\w*|epochs?|batch\w*|micro\w*|updates?)"
_OF_STEPS = rf"\b{_STEPS}\W{{0,4}}(?:\d{{1,9}}\W{{0,4}})?$"
_AND_STEPS = rf"\W{{0,3}}{_STEPS}\b"
_OF_TRAINING = r"(?i)\b(?:\w*loss|lr|grad\w*|ppl|perplexity)\b"
"""What tells of steps without calling them so."""
_OF_EVALUATION = r"(?i)(?<![a-z])(?:eval|valid|test|predict|inference|generat|decod|sampl|scor)"
"""What tells that its steps are not the training's: one rank may take them alone."""
_COUNTER = r"(?i)\b(?:global[ _]?step|step|iter(?:ation)?|update|batch|micro[ _-]?batch)\W{0,3} {0,4}(\d{1,9})(?![\w.])"
_MAY_COUNT = deferred(
    rb"\d {0,3}(?:/|of|out of) {0,4}\d|\d[,;]? ?[\"']?(?:out_)?(?:of|total)[\"']?(?:: ?|=)\d|(?i:step|iter|update|batch)[^a-zA-Z\d]{0,8}\d"
)
_TAKEN = r"(?<![\w.])(\d{1,6}(?:\.\d+)?) ?s(?:ec(?:onds)?)?\.?$"
_ACTIVITIES = {
    "compile": r"(?i)compil|warm(?:ing|ed)?[ -]?up|captur|bucket|autotun|kernel|graph",
    "checkpoint": r"(?i)checkpoint|ckpt|\bsav(?:e|ed|ing)\b|\bwr(?:ote|iting|itten)\b|upload|flush",
    "load": r"(?i)load|token|index|download|read|fetch|cach|prepar|convert|shard|file|part|resampl|extract|unpack",
}
"""What is being done, by the words of the line: the first that fits."""
_IN_WORDS = {
    "compile": "compiling or warming up",
    "checkpoint": "writing a checkpoint",
    "load": "preparing data",
}


@dataclass(slots=True, eq=False, repr=False)
class _Count:
    """Where a count began and how far it has come."""

    first: Said
    last: Said
    reached: int
    whole: int
    times: int = 1


COUNTS = Wanted(_MAY_COUNT, MAX_LINES_IN_ALL, FEWEST_LINES, MAX_LINES)
"""The lines that may count something."""


def counted(said: Sequence[Said], sources: Sequence[Source]) -> list[Finding]:
    """The work that writers count in ``said``, at the ends of logs and about the time that trouble began.

    And who has counted more steps than all others.
    """
    return [*_work(said, sources), *_ahead(said, sources)]


def _work(said: Sequence[Said], sources: Sequence[Source]) -> Iterator[Finding]:
    counts: dict[tuple[str | None, int, str], _Count] = {}
    for line in said:
        # a record in JSON counts in fields of its own
        told = line.text if line.text.lstrip().startswith("{") else line.message
        found = compiled(_OF).search(told)
        if found is None or _of_steps(told, found.start(1), found.end(2)):
            continue
        reached, whole = int(found[1]), int(found[2])
        if not 0 <= reached <= whole or whole < 2:
            continue
        key = (line.writer, line.source, line.wording)
        known = counts.get(key)
        if known is None or known.whole != whole or reached < known.reached:
            counts[key] = _Count(line, line, reached, whole)
        elif reached > known.reached:
            known.last, known.reached, known.times = line, reached, known.times + 1
    for known in counts.values():
        if known.times > 1:
            phase = next(
                (p for p, words in _ACTIVITIES.items() if compiled(words).search(known.last.message)), None
            )
            shown = " ".join(known.last.message.split())[:60]
            what = _IN_WORDS.get(phase or "", f"at work of its own ({shown})")
            fields: dict[str, Value] = {
                "activity": what,
                "reached": known.reached,
                "whole": known.whole,
                "times": known.times,
            }
            if phase is not None:
                fields["phase"] = phase
            if (taken := compiled(_TAKEN).search(known.last.message)) is not None:
                fields["elapsed"] = float(taken[1])
            yield finding_of(WORK, known.first, sources, fields, last=known.last)


def _of_steps(message: str, begin: int, end: int) -> bool:
    """Whether what is counted from ``begin`` to ``end`` are steps of the training: all ranks take them together."""
    if compiled(_OF_EVALUATION).search(message[:begin]) is not None:
        return False
    return (
        compiled(_OF_STEPS).search(message[max(0, begin - 60) : begin]) is not None
        or compiled(_AND_STEPS).match(message[end:]) is not None
        or compiled(_OF_TRAINING).search(message) is not None
    )


def _ahead(said: Sequence[Said], sources: Sequence[Source]) -> Iterator[Finding]:
    reached: dict[str, dict[str, tuple[int, Said]]] = defaultdict(dict)
    for line in said:
        found = compiled(_COUNTER).search(line.message)
        if found is not None and line.writer is not None:
            reached[line.wording][line.writer] = (int(found[1]), line)
    for writers in reached.values():
        best, line = max(writers.values(), key=lambda r: r[0])
        others = [step for step, other in writers.values() if other is not line]
        if len(others) >= FEWEST_WAITING and max(others) < best:
            yield finding_of(AHEAD, line, sources, {"step": best, "others": max(others)})
