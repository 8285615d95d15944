"""Lines out of the ordinary: what one writer said once, after the job had found its rhythm.

A rank that goes its own way seldom calls it an error. Among the lines that all ranks repeat, what only one
of them said is where to look.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence

from triage.model import Block, Finding, Moment, Source, Value
from triage.scan.lazy import compiled
from triage.scan.ordinary.behind import behind
from triage.scan.ordinary.deviants import broken_habits, deviants
from triage.scan.ordinary.in_step import out_of_step
from triage.scan.ordinary.said import (
    WORD,
    Said,
    finding_of,
    lines_afterwards,
    lines_at_the_end,
    lines_at_the_start,
    share,
    without_digits,
)
from triage.scan.ordinary.slower import slower
from triage.scan.ordinary.testimony import testimony

ODD = "progress.oddity"
LAST = "progress.last-line"
DEVIANT = "progress.deviant"
OUT_OF_STEP = "progress.out-of-step"
MAX_LINES = 240
"""Lines of them, fewer where there are many sources."""
MAX_LINES_IN_ALL = 12_000
FEWEST_LINES = 20
ROUTINE = 3
"""Times that a wording is repeated by which it is known for routine."""
MIN_WORDS, OF_RECORD = 3, 2
"""Words that a line has that says something, and the text of a record in JSON, which names its values elsewhere."""
TWICE = 2
"""Times that one writer alone may have said what is still out of the ordinary: a step of its own and the next one."""
KEPT = 2
"""Lines that are kept of each writer: the last ones."""


def oddities(
    tails: Mapping[int, Block],
    sources: Sequence[Source],
    until: Mapping[int, int],
    harmless: Container[str],
) -> list[Finding]:
    """The last lines of each writer that nobody else said, of those after routine had begun, its last line and its testimony.

    Args:
        tails: the last block of each log, by the index of its source.
        until: offset in each source at which trouble began; its end where there is none.
        harmless: lines that are known to mean nothing, without their digits.
    """
    most = share(MAX_LINES_IN_ALL, len(tails), FEWEST_LINES, MAX_LINES)
    said = [
        line
        for index, block in sorted(tails.items())
        for line in lines_at_the_end(block, sources[index], index, until.get(index), most)
    ]
    setup = [
        line
        for index, block in sorted(tails.items())
        for line in lines_at_the_start(block, sources[index], index, until.get(index), most // 2)
    ]
    late = [
        line
        for index, block in sorted(tails.items())
        for line in lines_afterwards(block, sources[index], index, until.get(index), most)
    ]
    own = testimony(setup, [*said, *late], sources, harmless)
    said = list({_twice(line, sources[line.source]): line for line in reversed(said)}.values())[::-1]
    times = Counter(line.wording for line in said)
    often = Counter((line.source, line.wording) for line in said)
    sayers: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for line in said:
        sayers[line.wording].add(_person(line))
    routine = {wording for wording, count in times.items() if count >= ROUTINE}
    began: dict[int, int] = {}
    clock: dict[str, float] = {}
    for line in said:
        if line.wording in routine:
            began.setdefault(line.source, line.offset)
            time = line.prefix.time
            if time is not None:
                clock[time.clock] = min(clock.get(time.clock, time.seconds), time.seconds)
    found: dict[tuple[int, str], list[Said]] = {}
    last: dict[tuple[int, str], Said] = {}
    for line in said:
        if without_digits(line.text) in harmless:
            continue
        last[_writer(line)] = line
        least = OF_RECORD if line.text.lstrip().startswith("{") else MIN_WORDS
        again = times[line.wording] > (TWICE if len(sayers[line.wording]) == 1 else 1)
        if again or len(compiled(WORD).findall(line.wording)) < least:
            continue
        warned = line.prefix.level == "warning" and len(sayers) > 1
        if warned or began.get(line.source, 1 << 62) < line.offset or _later(line.prefix.time, clock):
            found.setdefault(_writer(line), []).append(line)
    told = [(line, DEVIANT) for line in deviants(setup) or broken_habits(said)]
    told = told or [(line, OUT_OF_STEP) for line in out_of_step(said)]
    told += [(line, ODD) for lines in found.values() for line in lines[-KEPT:]]
    told += [(line, LAST) for line in last.values()]
    seen: set[tuple[int, int]] = set()
    findings = own
    for line, rule in told:
        if (line.source, line.offset) not in seen:
            seen.add((line.source, line.offset))
            words = " ".join(line.text[line.prefix.length :].split())[:200]
            fields: dict[str, Value] = {"words": words}
            if rule == LAST:
                fields["_shared"] = len(sayers[line.wording]) > 1
                fields["_once"] = len(sayers[line.wording]) == 1 == often[line.source, line.wording]
            findings.append(finding_of(rule, line, sources, fields))
    return [*findings, *behind([*setup, *said], sources), *slower(said, sources)]


def _writer(line: Said) -> tuple[int, str]:
    """The log that a line stands in, and who wrote it there, where something tells."""
    return line.source, line.prefix.stream or line.writer or ""


def _person(line: Said) -> tuple[int, str]:
    """Who wrote a line, a rank in whichever log it stands."""
    if line.writer is not None and line.writer.isdecimal():
        return -1, line.writer
    return _writer(line)


def _twice(line: Said, source: Source) -> tuple[object, ...]:
    """What is the same of a line that stands in the log of its writer and in one of all."""
    prefix = line.prefix
    numbers = (prefix.rank, source.rank, prefix.local_rank, source.local_rank)
    number = next((n for n in numbers if n is not None), None)
    if number is None or prefix.time is None:
        return line.source, line.offset
    return number, prefix.time.seconds, line.message


def _later(time: Moment | None, clock: Mapping[str, float]) -> bool:
    return time is not None and time.clock in clock and time.seconds >= clock[time.clock]
