"""Whether one of several who speak in turns is never heard again after it complained, while all others go on.

Who catches what was raised and goes on says so, or works on; who says nothing more has left its work to nobody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from triage.model import Block, Finding, Source, Value
from triage.scan.closing.wordings import NAMES_AN_EXCEPTION, complains
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.recovery import FRESH
from triage.scan.ordinary.replacing import succeeded
from triage.scan.ordinary.said import Said, finding_of, is_statement, whole_lines, window_of

SILENCED = "unknown.silenced"
FEWEST, FEWEST_BEFORE = 3, 4
"""Others who go on, each with so many lines; and lines of the one before that show at what pace it spoke."""
_TIMES = 3
"""How many of its longest pauses the silence lasts."""
_SPEAKER = deferred(
    r"(?i)\b(?P<kind>worker|rank|actor|proc|process|thread|loader|replica|task|node|gpu|env|shard|member|client|stage)"
    r"[ _#=:-]{0,2}(?P<number>\d{1,4})\b"
)
"""Who is spoken of, or speaks: the first who is named in a line."""
_HELPERS = frozenset(["thread", "loader", "env", "client"])
"""Whose numbers are none of ranks."""
_ENDS = deferred(
    r"(?i)\b(?:thread|process|loop|worker|reader|producer|consumer)?(?: has| is| was)? ?"
    r"(?:ended|died|dead|gone|crashed|exited|stopped|terminated)\b"
)
_GOES_ON = deferred(
    r"(?i)\b(?:re-?distribut\w*|re-?assign\w*|taken over|takes? over|hand(?:s|ed) (?:over|back)|done|finish\w*|complete\w*|all (?:of )?its"
    r"|no more|last|idle"
    r"|(?:queue|stream|input)s? (?:is |was )?(?:closed|empty|drained|exhausted)|end of (?:queue|stream|data|input)"
    r"|as (?:planned|intended|expected)|\w*interrupt\w*|early[ -]?stop\w*|(?:code|status|rc)[ =:]{1,3}0|cleanly|in order)\b"
)
"""What is said where the rest is done by others, or there is none."""


def silenced(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The last line of the one who is not heard again, None without."""
    for index, block in sorted(tails.items()):
        lines = [
            line for line in whole_lines(block, sources[index], index, window_of(len(tails)))
            if is_statement(line.text, line.prefix, line.message)
        ]  # fmt: skip
        kinds: dict[str, dict[int, list[tuple[int, Said]]]] = defaultdict(lambda: defaultdict(list))
        for at, line in enumerate(lines):
            for kind, number in _named(line):
                kinds[kind][number].append((at, line))
        for kind, told in kinds.items():
            odd = _not_heard_again(told)
            if odd is None:
                continue
            at, last = told[odd][-1]
            if succeeded(lines[at:], str(odd)):
                continue
            fields: dict[str, Value] = {
                "words": " ".join(last.message.split())[:160],
                "others": len(told) - 1,
            }
            found = finding_of(SILENCED, last, sources, fields)
            return replace(found, rank=odd) if found.rank is None and kind not in _HELPERS else found
    return None


def _named(line: Said) -> list[tuple[str, int]]:
    """Under which names a line is somebody's."""
    if line.writer is not None and line.writer.isdecimal():
        return [("", int(line.writer))]
    found = _SPEAKER.search(line.message)
    return [] if found is None else [(found["kind"].lower(), int(found["number"]))]


def _not_heard_again(told: Mapping[int, Sequence[tuple[int, Said]]]) -> int | None:
    """The one whose last line complains, and after which all others say many more."""
    if len(told) <= FEWEST:
        return None
    odd = min(told, key=lambda number: told[number][-1][0])
    own = told[odd]
    at, last = own[-1]
    if len(own) <= FEWEST_BEFORE or not _complains(last):
        return None
    pause = max(there[0] - here[0] for here, there in pairwise(own))
    others = [sum(place > at for place, _ in theirs) for number, theirs in told.items() if number != odd]
    silence = max(place for theirs in told.values() for place, _ in theirs) - at
    return odd if min(others) >= FEWEST and silence >= _TIMES * pause else None


def _complains(line: Said) -> bool:
    said = line.message
    if any(pattern.search(said) for pattern in (compiled(FRESH), _GOES_ON)):
        return False
    return complains(said) or NAMES_AN_EXCEPTION.search(said) is not None or _ENDS.search(said) is not None
