"""The place where lines say who wrote them, whatever it looks like: what varies there from line to line, while the rest is the same.

Processes of one job say the same things. Where lines are equal but for one word, all that the word can be is who says it:
a pid, a coordinate, a host and a number, a letter. It is the same few words from the beginning of a log to its end, as no
count, time or name of a part is. Several such words side by side are one name: ``dp0 tp1 pp1:``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from triage.model import Slot
from triage.scan.lazy import deferred
from triage.scan.prefixes.draft import LEVELS
from triage.scan.writers.marks import NO_RECORD, NOT_WRITERS

FEWEST = 10
"""Records by which it can be told."""
FIRST, OF_JSON = 14, 18
"""Words at the beginning of a line among which it stands, keys included."""
LONGEST = 48
"""Characters of a name."""
NEARLY_ALL = 0.9
PRESENT = 0.8
"""Part of the records that have it."""
ALIKE = 0.6
"""Part of the records that say what somebody else says too."""
_AGAIN = 4
AGAIN = 1.5
"""Records that each name has, on the average."""
SPAN = 0.35
"""Part of the log that lies between the first and the last record of one name, for half of the names."""
TURNS = 0.3
"""Part of the records before which somebody else spoke."""
WHOSE = 2
"""Names by which a place is one of writers."""
_WORDS = deferred(r"[^\s\[\](){}<>|,;:/\"'=]+")
_COLUMNS = deferred(r" {1,12}\d+(?: |/)")
"""A table's line, whose numbers stand at the right of their columns."""
_DIGITS = deferred(r"\d+")
_TIME = deferred(
    r"\d{1,4}[-/.:]\d\d?[-/.:T]\d.*|\d\d:\d\d.*|\d{9,}(?:\.\d*)?|\d*\.\d+[a-z]{0,2}|[-+]?\d+(?:\.\d+)?e[-+]?\d+|[\d,]+\.\d+\w*"
)
_SOURCE = deferred(r"[\w./-]+\.(?:py|cpp|cc|cu|c|h|hpp|go|rs|sh|java|jl)(?::\d+)?:?")
_PID = deferred(r"(?<!\d)\d{3,8}\Z")
_LETTER = deferred(r"(?:.*[^A-Za-z])?[A-Za-z]\Z")
_LEVEL = deferred(r"\0[\]})>|:;,\"' ]*[DIWEF] (?=\S)")
_COUNTED = deferred(
    r"(?i)\b(?:epoch|step|iter\w*|round|batch|layer|block|bucket|expert|fold|seed|chunk|part|shard|file|sample|attempt|trial|version"
    r"|phase|level|head|group|channel|state|tensor|token|wave|task|tile|generation|pass|cycle|tick|queue|port|line|v)\W{0,3}\Z"
)
"""What stands before a value that numbers something else than processes."""


def slot_of(lines: Sequence[str]) -> Slot | None:
    """Where nearly all records name their writer, None where they do so nowhere."""
    records = [line for line in lines if is_record(line)]
    if len(records) < FEWEST:
        return None
    rows = [words_of(line) for line in records]
    most = OF_JSON if records[0].startswith("{") else FIRST
    places = [at for at in range(most) if _tells(records, rows, at)]
    numbered = [at for at in places if _of_numbers(records, rows, at)]
    runs = sorted(_side_by_side(numbered), key=lambda run: run[0] - run[1])
    words = [(at, at) for at in places if at not in numbered]
    for first, last in [*((_joined(records, rows, first), last) for first, last in runs), *runs, *words]:
        if sum(len(row) == last + 1 for row in rows) >= NEARLY_ALL * len(rows):
            first, last = first - last - 1, -1
        found = _named(records, rows, first, last)
        if found is not None:
            return found
    return _named(records, rows, -1, -1) if _tells(records, rows, -1) else None


def _of_numbers(records: Sequence[str], rows: Sequence[Sequence[re.Match[str]]], at: int) -> bool:
    """Whether numbers or letters tell those apart who stand at a place."""
    found = {row[at][0].rstrip(":.") for row in rows if len(row) > at}
    return 2 * sum(map(_numbered, found)) >= len(found)


def _joined(records: Sequence[str], rows: Sequence[Sequence[re.Match[str]]], first: int) -> int:
    """The first place of a name of which a word at ``first`` is a part: ``node01/3`` is one, whoever speaks in turns."""
    while first > 0:
        pairs = [(line, row) for line, row in zip(records, rows, strict=True) if len(row) > first]
        between = {line[row[first - 1].end() : row[first].start()] for line, row in pairs}
        words = {row[first - 1][0] for _, row in pairs}
        if len(between) != 1 or between.pop() not in {"/", ":"} or not 1 < len(words) <= len(pairs) / _AGAIN:
            break
        if not all(map(_numbered, words)) or any(map(_impossible, words)):
            break
        first -= 1
    return first


def is_record(line: str) -> bool:
    """Whether a program wrote a line in a format of its own."""
    return line.startswith("{") or NO_RECORD.match(line) is None or _COLUMNS.match(line) is not None


def named_by(slot: Slot, line: str) -> tuple[str, int] | None:
    """The name of its writer in a record, and where it ends; None where there is none."""
    if not is_record(line):
        return None
    words = words_of(line)
    place = _place(line, words, slot.first, slot.last)
    if place is None:
        return None
    name = line[slice(*place)]
    known = name in slot.names or _DIGITS.sub("0", name) in slot.shapes
    known = known and _before(line, place[0], slot.first) in slot.before
    return (name, place[1]) if known else None


def words_of(line: str) -> list[re.Match[str]]:
    """What stands between spaces, brackets and the like."""
    return list(_WORDS.finditer(line))


def _place(line: str, words: Sequence[re.Match[str]], first: int, last: int) -> tuple[int, int] | None:
    """Where a name stands that takes the words from one place to another; a colon behind it is none of it."""
    if len(words) < max(1, last + 1, -first):
        return None
    end = words[last].end()
    while end > words[last].start() + 1 and line[end - 1] in ":.":
        end -= 1
    return words[first].start(), end


def _tells(records: Sequence[str], rows: Sequence[Sequence[re.Match[str]]], at: int) -> bool:
    """Whether the words at a place may be a part of the names of writers."""
    places = [(line, _place(line, row, at, at)) for line, row in zip(records, rows, strict=True)]
    there = [(line, place) for line, place in places if place is not None]
    if len(there) < PRESENT * len(records):
        return False
    values = [line[slice(*place)] for line, place in there]
    times = Counter(values)
    if len(times) < WHOSE or len(values) < AGAIN * len(times):
        return False
    if all(value.upper() in LEVELS for value in times):
        return False
    if any(map(_impossible, times)) and sum(times[v] for v in times if _impossible(v)) * 5 > len(values):
        return False
    before = Counter(_DIGITS.sub("\0", line[: place[0]])[-40:] for line, place in there)
    ((usual, _),) = before.most_common(1)
    if at >= 0 and (_COUNTED.search(usual) or NOT_WRITERS.search(usual)):
        return False
    return _spans(values) and _in_turns(values)


def _impossible(value: str) -> bool:
    """Whether a word names no process: a time, a level, a place in a program, something long."""
    return (
        len(value) > LONGEST
        or (len(value) > 1 and value.upper() in LEVELS)
        or _TIME.fullmatch(value) is not None
        or _SOURCE.fullmatch(value) is not None
        or not any(map(str.isalnum, value))
    )


def _numbered(value: str) -> bool:
    """Whether a number or a letter tells a name from others like it."""
    return any(map(str.isdigit, value)) or _LETTER.match(value) is not None


def _introduced(
    records: Sequence[str], rows: Sequence[Sequence[re.Match[str]]], first: int, last: int
) -> bool:
    """Whether each of those who are known by words alone says once which of all it is, in the same words."""
    said: dict[tuple[str, int], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for line, row in zip(records, rows, strict=True):
        place = _place(line, row, first, last)
        if place is None:
            continue
        rest = " ".join((line[: place[0]] + "\0" + line[place[1] :]).split())
        wording = _DIGITS.sub("#", rest)
        for at, number in enumerate(_DIGITS.finditer(rest)):
            if len(number[0]) < _SMALL:
                said[wording, at][line[slice(*place)]].add(int(number[0]))
    for told in said.values():
        numbers = set().union(*told.values())
        one_each = len(told) >= _SEVERAL and len(numbers) == len(told) == sum(map(len, told.values()))
        if one_each and numbers in (set(range(len(numbers))), set(range(1, len(numbers) + 1))):
            return True
    return False


_SEVERAL, _SMALL = 3, 4


def _before(line: str, at: int, first: int) -> str:
    """What stands before a name, without what changes from record to record."""
    if first < 0:
        text = "".join(line[:at].split()[-1:])
        return "" if text.isalnum() else _DIGITS.sub("#", text)
    return " ".join(_LETTERS.sub("\1", _DIGITS.sub("#", _LEVELS.sub("\1", line[:at]))).split())


_LETTERS = deferred(r"(?<!\w)[DIWEFdiwef](?=#|[\])|])")


_LEVELS = deferred(
    r"(?<!\w)(?:" + "|".join(sorted(LEVELS, key=len, reverse=True)) + r")(?!\w)", re.IGNORECASE
)


def _spans(values: Sequence[str]) -> bool:
    """Whether most values come from the beginning to the end, as those of counters and of phases do not."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for at, value in enumerate(values):
        first.setdefault(value, at)
        last[value] = at
    wide = sum(last[value] - first[value] >= SPAN * len(values) for value in first)
    return 2 * wide >= len(first)


def _in_turns(values: Sequence[str]) -> bool:
    return sum(a != b for a, b in pairwise(values)) >= TURNS * len(values)


def _side_by_side(places: Sequence[int]) -> list[tuple[int, int]]:
    """Stretches of places, from the first to the last of each."""
    found: list[tuple[int, int]] = []
    for at in places:
        if found and found[-1][1] == at - 1:
            found[-1] = found[-1][0], at
        else:
            found.append((at, at))
    return found


def _named(
    records: Sequence[str], rows: Sequence[Sequence[re.Match[str]]], first: int, last: int
) -> Slot | None:
    """The names that stand from one place to another, if what is said is the same under them."""
    names: list[str] = []
    rests: list[str] = []
    before: dict[str, list[str]] = defaultdict(list)
    for line, row in zip(records, rows, strict=True):
        place = _place(line, row, first, last)
        if place is not None:
            names.append(line[slice(*place)])
            before[_before(line, place[0], first)].append(names[-1])
            rests.append(" ".join(_DIGITS.sub("#", line[: place[0]] + "\0" + line[place[1] :]).split()))
    sayers: dict[str, set[str]] = defaultdict(set)
    for name, rest in zip(names, rests, strict=True):
        sayers[rest].add(name)
    known = Counter(names)
    heard = {name for said in sayers.values() if len(said) >= max(WHOSE, len(known) / 2) for name in said}
    shared = sum(len(sayers[rest]) >= WHOSE for rest in rests)
    if len(known) < WHOSE or shared < ALIKE * len(records):
        return None
    if len(names) < AGAIN * len(known):
        return None
    if 2 * sum(map(_numbered, known)) < len(known) and not _introduced(records, rows, first, last):
        return None
    if 2 * max(map(len, sayers.values())) < len(known) or not (_spans(names) and _in_turns(names)):
        return None
    shapes = Counter(_DIGITS.sub("0", name) for name in heard if any(map(str.isdigit, name)))
    return Slot(
        first,
        last,
        frozenset(name for name in heard if not any(map(_impossible, name.split()))),
        frozenset(shape for shape, times in shapes.items() if times > 1),
        frozenset(text for text, said in before.items() if len(said) >= AGAIN * len(set(said))),
        processes=sum(_PID.search(name) is not None for name in heard) >= PRESENT * len(heard) > 0,
        lettered=sum(_LEVEL.match(rest, rest.index("\0")) is not None for rest in rests)
        >= PRESENT * len(rests),
    )
