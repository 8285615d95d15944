"""Whether one of several writers who count the same side by side stops in the midst, and never says anything again.

Nobody need complain of him: those who do not wait for each other go on to the end, and leave out what he had to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from triage.model import Block, Finding, Source, Value
from triage.scan.lazy import deferred
from triage.scan.ordinary.said import Said, finding_of, whole_lines, without_digits

DROPPED_OUT = "unknown.dropped-out"
FEWEST_SHARED, FEWEST_MISSED = 2, 3
"""Counts that all of them told, and counts that all others told since, where the one was silent."""
FEWEST_MISSED_BY_TWO = 8
"""The same where there is but one other, who may have more to do."""
_NAME = deferred(r"\W{0,2}(?P<name>(?:[A-Za-z]{1,12}[ _-]?)?(?P<number>\d{1,4}))(?:\]|:|\b)[ :|]{1,3}")
"""How those begin their lines who are told apart by a number."""
_COUNT = deferred(r"(?<![\w.])(\d{1,7})(?![\w.%:]|,\d)")


def dropped_out(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The last line of the one who stops, None where nobody does, or more than one."""
    if len(tails) != 1:
        return None
    ((index, block),) = tails.items()
    lines = [line for line in whole_lines(block, sources[index], index) if line.message.strip()]
    said: dict[str, list[Said]] = defaultdict(list)
    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        named = _named(line)
        if named is None:
            continue
        name, rest = named
        said[name].append(line)
        count = _COUNT.search(rest)
        if count is not None:
            counts[without_digits(rest)][name].append(int(count[1]))
    for shape, by_name in counts.items():
        odd = _stops(by_name)
        if odd is None:
            continue
        last = said[odd][-1]
        rest = (_named(last) or ("", ""))[1]
        # who says something else last of all has ended in his own way
        if without_digits(rest) != shape or len(said) != len(by_name):
            continue
        fields: dict[str, Value] = {"words": " ".join(last.message.split())[:160], "others": len(by_name) - 1}
        return finding_of(DROPPED_OUT, last, sources, fields)
    return None


def _named(line: Said) -> tuple[str, str] | None:
    """Who wrote a line, and what he says."""
    if line.writer is not None:
        return line.writer, line.message
    found = _NAME.match(line.message)
    return None if found is None else (found["name"], line.message[found.end() :])


def _stops(by_name: Mapping[str, Sequence[int]]) -> str | None:
    """The one who has told the first of the counts that all others have told, and then none of many."""
    if len(by_name) < 2:
        return None
    short = sorted(by_name, key=lambda name: len(by_name[name]))
    odd, others = short[0], [by_name[name] for name in short[1:]]
    own = by_name[odd]
    if len(own) < FEWEST_SHARED or any(list(other[: len(own)]) != list(own) for other in others):
        return None
    together = all(list(other) == list(others[0]) for other in others)
    missed = len(others[0]) - len(own)
    fewest = FEWEST_MISSED if len(others) > 1 else FEWEST_MISSED_BY_TWO
    rising = all(a < b for a, b in zip(others[0], others[0][1:], strict=False))
    return odd if together and rising and missed >= fewest else None
