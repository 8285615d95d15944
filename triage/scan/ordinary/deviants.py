"""What one rank says differently from all others, who say the same: another number, another path.

Ranks of one job print the same lines when they set themselves up. One that reads 31 batches where the others
read 32, or takes its vocabulary from a cache while they wait for it, goes its own way from then on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from triage.scan.lazy import compiled
from triage.scan.ordinary.said import NUMBER, Said

FEWEST = 3
"""Writers that must say the same to tell the odd one among them."""
HABIT = 6
"""Lines of one wording by which a number in them is known not to vary."""
_WHOLE = r"\d{1,9}$"
_KIND = r"\b(?:b?float|u?int|complex|[bft]?fp|bf|tf)\d{1,3}(?:_e\dm\d(?:fnu?z?)?)?\b"
_BEHIND = ",."
"""What may stand behind a number and is none of it."""
_STATED = rf"(?:\d{{1,9}}|\d{{1,4}}\.\d{{1,4}}\.\d{{1,6}}[+,]?|{_KIND})$"
"""A whole number, that of a release, or the kind of number that an array holds."""

_SEAT = r"(?i)\b(?:cuda|gpu|npu|xpu|device|dev|local[ _-]?rank|port|pid|node)s?['\"]?[ =:#\[(]{0,3}\Z"
"""What stands before a number that says where a process is."""
_COUNTER = r"(?i)\b(?:step|iter(?:ation)?|epoch|batch|round|update)[ =:#\[(]{0,2}\Z"
"""What stands before a number that counts how far a process has come, which differs by the moment."""
_NUMBERED = r"(?P<name>.*\D|)(?P<number>\d{1,4})\Z"
"""A name that ends in a number."""
_SETTING = r"(?<=[a-z_]=)[^\s,;)\]}]+|(?<=[a-z_]['\"]: )[^\s,;)\]}]+"
"""The value in ``name=value`` and ``'name': value``."""


def deviants(said: Sequence[Said]) -> list[Said]:
    """The lines by which one writer differs from all others, in order."""
    by_wording: dict[str, dict[str, list[Said]]] = defaultdict(lambda: defaultdict(list))
    writers: set[str] = set()
    ranks = {line.writer for line in said if line.writer is not None and line.writer.isdecimal()}
    named = {line.source for line in said if line.writer is not None}
    # a log is somebody's
    said = [line if line.source in named else replace(line, writer=f"log {line.source}") for line in said]
    for line in said:
        # where ranks are named, whoever is none of them is no rank: a launcher, a node
        if line.writer is not None and (len(ranks) < FEWEST or line.writer in ranks):
            by_wording[line.wording][line.writer].append(line)
            writers.add(line.writer)
    if len(writers) < FEWEST:
        return []
    found = [
        odd
        for speakers in by_wording.values()
        if len(speakers) >= FEWEST and all(len(lines) == 1 for lines in speakers.values())
        for odd in [_other_number({writer: lines[0] for writer, lines in speakers.items()})]
        if odd is not None
    ]
    found += _other_value(by_wording) or _other_path(by_wording, writers)
    return sorted(found, key=lambda line: (line.source, line.offset))


def broken_habits(said: Sequence[Said]) -> list[Said]:
    """The line in which one writer gives another number than all lines of that wording gave until then, by whomever.

    Where there are several such lines numbers vary, and none of them means anything.
    """
    by_wording: dict[str, list[Said]] = defaultdict(list)
    for line in said:
        if line.writer is not None:
            by_wording[line.wording].append(line)
    found: dict[tuple[int, int], Said] = {}
    for lines in by_wording.values():
        if len(lines) < HABIT or len({line.writer for line in lines}) < 2:
            continue
        numbers = [[n.rstrip(_BEHIND) for n in compiled(NUMBER).findall(line.message)] for line in lines]
        if len({len(row) for row in numbers}) != 1:
            continue
        for values in zip(*numbers, strict=True):
            at = _odd_one(values)
            if at is not None and all(map(compiled(_WHOLE).match, values)):
                odd = lines[at]
                if all(
                    line is odd for line in lines if line.writer == odd.writer and line.offset >= odd.offset
                ):
                    found[odd.source, odd.offset] = odd
    return list(found.values()) if len(found) == 1 else []


def _other_number(lines: dict[str, Said]) -> Said | None:
    """The line whose whole number, release or kind of number differs where all others have the same."""
    numbers = {
        writer: [*_numbers(line.message), *compiled(_KIND).findall(line.message)]
        for writer, line in lines.items()
    }
    if len({len(found) for found in numbers.values()}) != 1:
        return None
    for values in zip(*numbers.values(), strict=True):
        if not all(compiled(_STATED).match(value) for value in values):
            continue
        at = _odd_one(values)
        if at is not None:
            return lines[list(numbers)[at]]
    return None


def _odd_one(values: Sequence[str]) -> int | None:
    """The place of the one value that differs where all others are the same."""
    (usual, votes), *rest = Counter(values).most_common()
    if len(rest) != 1 or rest[0][1] != 1 or votes < FEWEST - 1:
        return None
    return next(at for at, value in enumerate(values) if value != usual)


def _numbers(message: str) -> list[str]:
    """The numbers of a line; in place of those that count devices or steps, which differ by nature, nothing that compares."""
    return [
        ""
        if compiled(_SEAT).search(message[: found.start()])
        or compiled(_COUNTER).search(message[: found.start()])
        else found[0].rstrip(_BEHIND)
        for found in compiled(NUMBER).finditer(message)
    ]


def _other_value(by_wording: Mapping[str, Mapping[str, list[Said]]]) -> list[Said]:
    """The line of the one writer that has another word for a setting which all others state alike."""
    frames: dict[str, dict[str, list[tuple[tuple[str, ...], Said]]]] = defaultdict(lambda: defaultdict(list))
    for wording, speakers in by_wording.items():
        values = tuple(compiled(_SETTING).findall(wording))
        if values:
            frame = compiled(_SETTING).sub("\0", wording)
            for writer, lines in speakers.items():
                frames[frame][writer] += [(values, line) for line in lines]
    for speakers_of in frames.values():
        if len(speakers_of) < FEWEST or any(len(told) != 1 for told in speakers_of.values()):
            continue
        told = [lines[0] for lines in speakers_of.values()]
        for column in zip(*(values for values, _ in told), strict=True):
            at = _odd_one(column)
            if at is not None:
                return [told[at][1]]
    return []


def _other_path(by_wording: dict[str, dict[str, list[Said]]], writers: set[str]) -> list[Said]:
    """What a writer says that lacks a line of all others. The first of them often has a part of its own."""
    if not _complete(writers):
        return []  # ranks that say nothing lack the line as well: it is that of some, such as one replica's
    first = min(writers, key=lambda writer: (len(writer), writer))
    lacking: Counter[str] = Counter()
    for speakers in by_wording.values():
        missing = writers - speakers.keys()
        if len(missing) == 1:
            lacking.update(missing)
    if len(lacking) != 1:
        return []
    (odd,) = lacking
    if odd == first:
        return []
    own = [
        lines[0]
        for speakers in by_wording.values()
        if speakers.keys() == {odd}
        for lines in speakers.values()
        if len(lines) == 1
    ]
    return own[:1]


def _complete(writers: set[str]) -> bool:
    """Whether no number is left out of those by which the writers are told apart, where such are all that differs."""
    found = [compiled(_NUMBERED).match(writer) for writer in writers]
    numbers = {int(match["number"]) for match in found if match is not None}
    if len({match["name"] if match else None for match in found}) > 1 or len(numbers) < len(writers):
        return True
    return max(numbers) - min(numbers) < len(numbers)
