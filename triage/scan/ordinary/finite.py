"""Which rank's own numbers ceased to be numbers first: what is reduced over all ranks spreads to all of them.

Ranks print the same lines of the same steps. Where in one of them a single rank has a nan, or more of them than all
others, it was there before anything was summed; all others raise the same error a moment later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from triage.model import Block, Finding, Source
from triage.scan.lazy import deferred
from triage.scan.ordinary.said import Said, finding_of, lines_at_the_end, share

RULE = "progress.not-finite"
FEWEST = 2
"""Other writers that must say the same with fewer such values."""
_LINES, _LINES_IN_ALL, _LEAST = 600, 4000, 60
_NOT_A_NUMBER = deferred(r"(?i)(?<![\w-])[-+]?(?:nan|inf(?:inity)?)(?![\w-])")
_OWN = deferred(r"(?i)\W{0,2}(?:r|rk|w|p|worker|proc(?:ess)?|member)[ =:#_-]?(\d{1,4})(?![\w.])")
"""How a writer begins a line of his own, in whatever layout it stands."""
_WHOLE = deferred(r"(?<![\w.:-])\d{1,9}(?![\w.-]\d|\w)")
_KEYED = deferred(r" own (\d{1,5})\Z")
"""The name of a writer by a field of its records."""
_FIELD = deferred(r"(?i)\b(?:global_|world_)?rank[\"']?[=:] ?\d{1,5}\b")
"""A rank among the other fields of a record."""
_Place = tuple[str, str]
"""What is said, and of which step."""


def first_not_finite(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The line of the one writer that is no longer finite while others still are, None where several are at once."""
    most = share(_LINES_IN_ALL, len(tails), _LEAST, _LINES)
    said: dict[_Place, dict[str, Said]] = defaultdict(dict)
    sayers: dict[str, set[str]] = defaultdict(set)
    odd: list[tuple[_Place, Said]] = []
    for index, block in sorted(tails.items()):
        for line in lines_at_the_end(block, sources[index], index, None, most):
            if "#" not in line.wording:
                continue
            own = _OWN.match(line.message) if line.writer is None else None
            line = line if own is None else replace(line, writer=own[1])
            field = None if line.writer is None else _KEYED.search(line.writer)
            line = line if field is None else replace(line, writer=field[1])
            if line.writer is None or not line.writer.isdecimal():
                continue
            step = _WHOLE.search(_FIELD.sub("", line.message, 1), 0 if own is None else own.end())
            place = line.wording, "" if step is None else step[0]
            sayers[line.wording].add(line.writer)
            said[place].setdefault(line.writer, line)
            if _count(line):
                odd.append((place, line))
    if not odd:
        return None
    step_of = {place: int(place[1] or 0) for place, _ in odd}
    first = min(step_of.values())
    found = {
        alone.writer: alone
        for place, at in step_of.items()
        if at == first and (alone := _alone(said[place], sayers[place[0]])) is not None
    }
    return finding_of(RULE, next(iter(found.values())), sources, {}) if len(found) == 1 else None


def _alone(lines: Mapping[str, Said], sayers: set[str]) -> Said | None:
    """The line with more such values than those of all others, who have as many as each other."""
    counts = {writer: _count(line) for writer, line in lines.items()}
    most = max(counts.values())
    worst = [writer for writer, count in counts.items() if count == most]
    if len(worst) > 1 or len(sayers) <= FEWEST:
        return None
    if len(lines) == 1:
        return lines[worst[0]]  # the others said it of other steps only
    return lines[worst[0]] if len(lines) > FEWEST and len(set(counts.values())) == 2 else None


def _count(line: Said) -> int:
    return len(_NOT_A_NUMBER.findall(line.message))
