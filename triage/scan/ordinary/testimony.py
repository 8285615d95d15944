"""What each rank said for itself before it failed: wordings that no other rank used, numbers that all others have otherwise.

It blames nobody. Once something else tells whose fault it is, these are the lines of that rank to look at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence

from triage.model import Finding, Source
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import NUMBER, WORD, Said, finding_of, without_digits

RULE = "progress.own-words"
KEPT = 3
"""Lines that are kept of each writer."""
MIN_WORDS = 2
"""Words that a line has that says something."""
SELDOM = 2
"""Times that a writer says what is no routine of its own."""
TALKATIVE = 8
"""Wordings of its own by which a writer is known to speak for all: mostly the first rank."""
FAR = 4
"""Times the greatest of other numbers by which one stands out among those that vary."""
_WHOLE = r"\d{1,12}$"
_ALONE_AT_WORK, _OTHER_NUMBER, _ALONE, _OTHER_THAN_ONE = 4, 3, 2, 1
"""How much it tells: said by one once work had begun, another number than several have, said by one, than one has."""


def testimony(
    setup: Sequence[Said], said: Sequence[Said], sources: Sequence[Source], harmless: Container[str]
) -> list[Finding]:
    """The most telling lines of every writer, where there are several writers.

    Args:
        setup: lines of the beginnings of the logs.
        said: lines before and after trouble began.
        harmless: lines that are known to mean nothing, without their digits.
    """
    lines = {(line.source, line.offset): line for line in (*setup, *said)}
    by_wording: dict[str, dict[str, list[Said]]] = defaultdict(lambda: defaultdict(list))
    nameless = len({line.source for line in lines.values()}) == 1
    for _, line in sorted(lines.items()):
        if (line.writer is not None or not nameless) and without_digits(line.text) not in harmless:
            by_wording[line.wording][_writer(line)].append(line)
    if len({writer for speakers in by_wording.values() for writer in speakers}) < 2:
        return []
    begun = {(line.source, line.offset) for line in said}
    telling: dict[str, dict[tuple[int, int], tuple[int, Said]]] = defaultdict(dict)
    for worth, line in _own(by_wording, begun):
        place = line.source, line.offset
        worth += line.prefix.level == "warning"
        known = telling[_writer(line)].get(place)
        if known is None or known[0] < worth:
            telling[_writer(line)][place] = worth, line
    return [
        finding_of(RULE, line, sources, {"words": " ".join(line.text[line.prefix.length :].split())[:200]})
        for _, told in sorted(telling.items())
        for line in _best(list(told.values()))
    ]


def _writer(line: Said) -> str:
    """Who a line is from: where nothing names anybody, each log is somebody's own."""
    return line.writer or f"log {line.source}"


def _best(told: Sequence[tuple[int, Said]]) -> list[Said]:
    """The most telling of a writer's own lines, in their order: the first of them, where it parted from the others, and the last."""
    alone = sum(1 for worth, _ in told if worth in {_ALONE, _ALONE_AT_WORK})
    kept = [(worth, line) for worth, line in told if alone < TALKATIVE or worth != _ALONE]
    if not kept:
        return []
    most = max(worth for worth, _ in kept)
    first = min((t for t in kept if t[0] == most), key=_place)
    last = sorted((t for t in kept if t is not first), key=lambda t: (t[0], _place(t)))[-(KEPT - 1) :]
    return [line for _, line in sorted([first, *last], key=_place)]


def _place(told: tuple[int, Said]) -> tuple[int, int]:
    return told[1].source, told[1].offset


def _own(
    by_wording: dict[str, dict[str, list[Said]]], begun: Container[tuple[int, int]]
) -> Iterator[tuple[int, Said]]:
    """Lines that set their writer apart, with how much they tell."""
    for wording, speakers in by_wording.items():
        if len(compiled(WORD).findall(wording)) < MIN_WORDS:
            continue
        if len(speakers) == 1:
            (lines,) = speakers.values()
            if len(lines) <= SELDOM:
                yield from (
                    (_ALONE_AT_WORK if (line.source, line.offset) in begun else _ALONE, line)
                    for line in lines
                )
            else:
                yield _ALONE, lines[0]
        elif len({len(lines) for lines in speakers.values()}) == 1:
            if len(speakers) == 2 and len(next(iter(speakers.values()))) > SELDOM:
                continue  # what varies from step to step differs between ranks
            for row in zip(*speakers.values(), strict=True):
                yield from _otherwise(row)


def _otherwise(lines: Sequence[Said]) -> Iterator[tuple[int, Said]]:
    """Of the lines in which several writers say the same for the same time, those with another whole number."""
    rows = [compiled(NUMBER).findall(line.message) for line in lines]
    if len({len(row) for row in rows}) != 1:
        return
    for values in zip(*rows, strict=True):
        if not all(map(compiled(_WHOLE).match, values)):
            continue
        if len(set(values)) != 2:
            yield from _beyond(lines, [int(value) for value in values])
            continue
        odd = [line for line, value in zip(lines, values, strict=True) if values.count(value) == 1]
        if len(lines) == 2:
            yield from ((_OTHER_THAN_ONE, line) for line in odd)
        elif len(odd) == 1:
            yield _OTHER_NUMBER, odd[0]


def _beyond(lines: Sequence[Said], values: Sequence[int]) -> Iterator[tuple[int, Said]]:
    """The line whose number is far greater than those of all others, which are about the same."""
    *others, second, greatest = sorted(values)
    if others and greatest >= FAR * second and second <= 2 * max(1, others[0]):
        yield _OTHER_NUMBER, lines[values.index(greatest)]
