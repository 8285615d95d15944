"""Whether one of several writers who count the same side by side stops in the midst, and never says anything again.

Nobody need complain of him: those who do not wait for each other go on to the end, and leave out what he had to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from triage.model import Block, Finding, Source, Value
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.concert import outer, ranks_of_streams
from triage.scan.ordinary.replacing import succeeded
from triage.scan.ordinary.said import SELF, Said, finding_of, whole_lines, window_of, without_digits

DROPPED_OUT = "unknown.dropped-out"
FEWEST_SHARED, FEWEST_MISSED = 2, 3
"""Counts that all of them told, and counts that all others told since, where the one was silent."""
FEWEST_MISSED_BY_TWO = 8
"""The same where there is but one other, who may have more to do."""
_NAME = deferred(r"\W{0,2}(?P<name>(?:[A-Za-z]{1,12}[ _-]?)?(?P<number>\d{1,4}))(?:\]|:|\b)[ :|]{1,3}")
"""How those begin their lines who are told apart by a number."""
_OF_ALL = deferred(r"(?<![\w./:-])(\d{1,7}) ?(?:/|of|out of) ?(\d{1,7})(?![\w/.:]|%)")
_COUNT = deferred(r"(?<![\w.])(\d{1,7})(?![\w.%:]|,\d)")


def dropped_out(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The last line of the one who stops, None where nobody does, or more than one."""
    lines = [
        line
        for index, block in sorted(tails.items())
        for line in whole_lines(block, sources[index], index, window_of(len(tails)))
        if line.message.strip()
    ]
    own = ranks_of_streams(lines)
    said: dict[str, list[Said]] = defaultdict(list)
    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        named = _named(line, own, apart=len(tails) > 1)
        if named is None:
            continue
        name, rest = named
        said[name].append(line)
        count = _COUNT.search(rest)
        if count is not None:
            counts[without_digits(rest)][name].append(int(count[1]))
    if len(tails) > 1:
        # a launcher's log beside those of its processes counts nothing
        count_at_all = {
            name for by_name in counts.values() for name, told in by_name.items() if len(told) > 1
        }
        said = defaultdict(list, {name: told for name, told in said.items() if name in count_at_all})
    for shape, by_name in counts.items():
        odd = _stops(by_name)
        if odd is None:
            continue
        last = said[odd][-1]
        rest = (_named(last, own, apart=len(tails) > 1) or ("", ""))[1]
        # who says something else last of all has ended in his own way
        if without_digits(rest) != shape or len(said) != len(by_name) or _is_full(rest):
            continue
        if _had_so_many(said[odd][:-1], shape, by_name[odd][-1]):
            continue
        number = compiled(r"\d*\Z").search(odd)
        below = [line for line in lines if line.source == last.source and line.offset > last.offset]
        if number is not None and succeeded(below, number[0]):
            continue
        fields: dict[str, Value] = {"words": " ".join(last.message.split())[:160], "others": len(by_name) - 1}
        found = finding_of(DROPPED_OUT, last, sources, fields)
        return replace(found, rank=int(odd)) if found.rank is None and odd.isdecimal() else found
    return None


def _named(line: Said, own: Mapping[tuple[int, str], str], *, apart: bool = False) -> tuple[str, str] | None:
    """Who wrote a line, and what he says.

    Args:
        own: the ranks that streams stand for.
        apart: whether each has a log of his own.
    """
    writer = own.get((line.source, outer(line)), line.writer)
    if writer is not None:
        lead = compiled(SELF).match(line.message)
        return writer, line.message if lead is None else line.message[lead.end() :]
    if apart:
        return f"log {line.source}", line.message
    found = _NAME.match(line.message)
    return None if found is None else (found["name"], line.message[found.end() :])


def _is_full(message: str) -> bool:
    """Whether a count came to its own total: who has less to do is through with it."""
    return any(int(done) >= int(total) for done, total in _OF_ALL.findall(message))


def _had_so_many(before: Sequence[Said], shape: str, count: int) -> bool:
    """Whether somebody had told, before he began to count them, of so many things to do."""
    for line in before:
        if without_digits(line.message).endswith(shape):
            return False
        if count in map(int, _COUNT.findall(line.message)) and _TO_DO.search(line.message) is not None:
            return True
    return False


_TO_DO = deferred(
    r"(?i)\b(?:assigned|to (?:do|process|go|read|embed|convert)|in total|total|has|have|got|found|owns?|takes?|gets?|share|shards?|files?"
    r"|batches|samples|items|parts)\b"
)
"""How it is said how much there is to do."""


def _stops(by_name: Mapping[str, Sequence[int]]) -> str | None:
    """The one who has told the first of the counts that all others have told, and then none of many.

    Of long logs the ends alone are known, and of his another part than of theirs.
    """
    if len(by_name) < 2:
        return None
    odd = min(by_name, key=lambda name: max(by_name[name]))
    own, others = list(by_name[odd]), [list(told) for name, told in by_name.items() if name != odd]
    told = others[0]
    if len(own) < FEWEST_SHARED or not _rises(own) or not _rises(told):
        return None
    together = all(other[-1] == told[-1] and set(other[-FEWEST_MISSED:]) <= set(told) for other in others)
    same = [count for count in own if count >= told[0]] == [
        count for count in told if own[0] <= count <= own[-1]
    ]
    missed = sum(count > own[-1] for count in told)
    fewest = FEWEST_MISSED if len(others) > 1 else FEWEST_MISSED_BY_TWO
    return odd if together and same and missed >= fewest else None


def _rises(counts: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(counts))
