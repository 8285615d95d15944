"""The place where lines say who wrote them, whatever it looks like: what varies there from line to line, while the rest is the same.

Processes of one job say the same things. Where lines are equal but for one word, all that the word can be is who says it:
a pid, a coordinate, a host and a number, a letter. It is the same few words from the beginning of a log to its end, as no
count, time or name of a part is. Several such words side by side are one name: ``dp0 tp1 pp1:``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from operator import ne

from triage.model import Slot
from triage.scan.lazy import deferred
from triage.scan.prefixes.draft import LEVELS
from triage.scan.writers.marks import NO_RECORD, NOT_WRITERS
from triage.scan.writers.table import KEYS, Table, place_of, row_of, without_stop
from triage.scan.writers.things import of_different_things

FEWEST = 10
"""Records by which it can be told."""
FIRST, OF_JSON = 14, 18
"""Words at the beginning of a line among which it stands, keys included."""
LONGEST = 48
"""Characters of a name."""
PRESENT = 0.8
"""Part of the records that have it."""
ALIKE = 0.6
"""Part of the records that say what somebody else says too."""
AGAIN = 1.5
"""Records that each name has, on the average."""
SPAN = 0.35
"""Part of the log that lies between the first and the last record of one name, for half of the names."""
TURNS = 0.3
"""Part of the records before which somebody else spoke."""
WHOSE = 2
"""Names by which a place is one of writers."""
_COLUMNS = deferred(r" {1,12}\d+(?: |/)")
"""A table's line, whose numbers stand at the right of their columns."""
_DIGITS = deferred(r"\d+")
_TIME = deferred(
    r"(?!\d{1,3}(?:\.\d{1,3}){3}\Z)\d{1,4}[-/.:]\d\d?[-/.:T]\d.*|\d\d:\d\d.*|\d{9,}(?:\.\d*)?|\d*\.\d+[a-z]{0,2}|[-+]?\d+(?:\.\d+)?e[-+]?\d+|[\d,]+\.\d+\w*"
)
_FRACTION = deferred(r"\0:\0[:,.]\Z|\0[-/.]\0[-/.]\0[ T]\0:\Z")
"""What stands before the minutes and seconds of a time, and parts of them."""
_SOURCE = deferred(r"[\w./-]+\.(?:py|cpp|cc|cu|c|h|hpp|go|rs|sh|java|jl)(?::\d+)?:?")
_PID = deferred(r"(?<!\d)\d{3,8}\Z")
_WORD_AND_NUMBER = deferred(r"[^\W\d_]{2,}([#@/.:_-])\d+")
_ADDRESS = deferred(r"\d+\.\d+\.\d+\.\d+")
_LETTER = deferred(r"(?:.*[^A-Za-z])?[A-Za-z]\Z")
_LEVEL = deferred(r"\0[\]})>|:;,\"' ]*[DIWEF] (?=\S)")
_COUNTED = deferred(
    r"(?i)\b(?:epoch|ep|step|iter\w*|itr|it|mb|round|batch|layer|block|bucket|expert|fold|seed|chunk|part|shard|file|sample|record|item|row|example|image|img|doc(?:ument)?|clip|utt\w*|seq(?:uence)?|request|req|attempt|trial|version"
    r"|phase|level|head|group|channel|state|tensor|token|wave|task|tile|gen|generation|world|pass|cycle|tick|queue|port|line|v)\W{0,3}\Z"
)
"""What stands before a value that numbers something else than processes."""


def slot_of(lines: Sequence[str]) -> Slot | None:
    """Where nearly all records name their writer, None where they do so nowhere."""
    records = [line for line in lines if is_record(line)]
    if len(records) < FEWEST or 2 * len(set(records)) <= len(records) + 1:
        return None  # what is repeated as it stands is no work of several
    table = Table(records)
    most = OF_JSON if records[0].startswith("{") else FIRST
    places = [at for at in range(most) if _tells(table, at)]
    numbered = [at for at in places if _of_numbers(table, at)]
    runs = _runs(table, most, places, numbered) if numbered else []
    words = [(at, at) for at in places if at not in numbered]
    for first, last in [*runs, *words]:
        if sum(len(row) == last + 1 for row in table.words) >= ALIKE * len(records):
            first, last = first - last - 1, -1
        found = _named(table, first, last)
        if found is not None:
            return found
    if _tells(table, -1) and (found := _named(table, -1, -1)) is not None:
        return found
    return _under_a_key(records)


def _runs(table: Table, most: int, places: Sequence[int], numbered: Sequence[int]) -> list[tuple[int, int]]:
    """Stretches of words that may be names, the longest first: numbers, and what stands beside them."""
    beside = [
        at
        for at in range(most)
        if at not in numbered
        and (at in places or _tells(table, at, among=True))
        and (_of_numbers(table, at) or _joined(table, at))
    ]
    told = {*numbered, *beside}
    told |= {at for at in range(1, most) if {at - 1, at + 1} <= told and len(_words_at(table, at)) == 1}
    whole = [run for run in _side_by_side(sorted(told)) if any(run[0] <= at <= run[1] for at in numbered)]
    return sorted([*whole, *_side_by_side(numbered)], key=lambda run: run[0] - run[1])


def _under_a_key(records: Sequence[str]) -> Slot | None:
    """Who writes by a value that stands under a name wherever that is in a record."""
    if sum("=" in line or line.startswith("{") for line in records) < PRESENT * len(records):
        return None
    times = Counter(
        key
        for line in records
        for key in dict.fromkeys(found[1] for found in KEYS.finditer(line) if _keyed(line, found))
    )
    for key, count in times.items():
        if count < PRESENT * len(records) or _NO_KEYS.search(key) is not None:
            continue
        table = Table(records, key)
        if _tells(table, 0) and _of_numbers(table, 0):
            found = _named(table, 0, 0, key)
            if found is not None:
                return found
    return None


def _keyed(line: str, found: re.Match[str]) -> bool:
    """Whether a value is told by its name, and not measured: ``who=3``, ``{"who": 3}``, but not ``Running: 3 reqs``."""
    return line.startswith("{") or "=" in found[0]


_NO_KEYS = deferred(
    r"(?i)\A(?:epoch|step|iter\w*|round|batch|layer|loss|lr|acc\w*|seed|chunk|attempt|trial|version|level|lvl|sum|size|bytes|count|total"
    r"|time|t|ts|elapsed|took|dt|shard|file|sample|wave|task|tile|local_?rank|local|gpu|device|cuda|port|line|code|status|value|k|n|i|v)\Z"
)
"""What numbers something else than processes, or processes within a host."""


def _joined(table: Table, at: int) -> bool:
    """Whether a word is one with the next: ``east/3``."""
    between = Counter(
        line[starts[at] + len(words[at]) : starts[at + 1]]
        for line, (words, starts) in zip(table.records, table.rows, strict=True)
        if len(words) > at + 1
    )
    return bool(between) and max(between, key=between.__getitem__) in {"/", ":"}


def _of_numbers(table: Table, at: int) -> bool:
    """Whether numbers or letters tell those apart who stand at a place."""
    found = _words_at(table, at)
    return 2 * sum(map(_numbered, found)) >= len(found)


def _words_at(table: Table, at: int) -> set[str]:
    return {word.rstrip(":.") for word in table.column(at)}


def is_record(line: str) -> bool:
    """Whether a program wrote a line in a format of its own."""
    return line.startswith("{") or NO_RECORD.match(line) is None or _COLUMNS.match(line) is not None


def named_by(slot: Slot, line: str) -> tuple[str, int] | None:
    """The name of its writer in a record, and where it ends; None where there is none."""
    if not is_record(line):
        return None
    place = place_of(row_of(line, slot.key), slot.first, slot.last)
    if place is None:
        return None
    name = line[slice(*place)]
    known = name in slot.names or _DIGITS.sub("0", name) in slot.shapes or _form(name) in slot.shapes
    known = known and (bool(slot.key) or _before(line, place[0], slot.first) in slot.before)
    return (name, place[1]) if known else None


def _form(name: str) -> str:
    """A name that has a word, a sign and a number, without what the word and the number are; empty for others."""
    found = _WORD_AND_NUMBER.fullmatch(name)
    return f"\0{found[1]}0" if found is not None else ""


def _tells(table: Table, at: int, *, among: bool = False) -> bool:
    """Whether the words at a place may be a part of the names of writers; of one that others stand in, with ``among``."""
    words = table.column(at)
    if len(words) < PRESENT * len(table.records) or not WHOSE <= len(set(words)) <= len(words) / AGAIN:
        return False
    if not ((_come_back(words) if among else _in_turns(words)) and _spans(words)):
        return False  # most places are told by this
    values = [without_stop(word) for word in words]
    times = Counter(values)
    if len(times) < WHOSE or all(value.upper() in LEVELS for value in times):
        return False
    if at >= 0 and any(
        _COUNTED.search(value[: number.start()]) for value in times if (number := _DIGITS.search(value))
    ):
        return False
    if sum(times[value] for value in filter(_impossible, times)) * 5 > len(values):
        return False
    if not among and (_counts_up(values) or _in_strides(times)):
        return False
    if at < 0:
        return True
    told = [(line[:begin], line[begin:end]) for line, (begin, end) in table.places(at, at)]
    ((usual, _),) = Counter(_DIGITS.sub("\0", before)[-40:] for before, _ in told).most_common(1)
    if _COUNTED.search(usual) or NOT_WRITERS.search(usual) or _FRACTION.search(usual):
        return False
    return not of_different_things(told)


def _counts_up(values: Sequence[str]) -> bool:
    """Whether numbers only go up, once or from the beginning again: two processes that count, one behind the other, do so."""
    numbers = [int("".join(_DIGITS.findall(value))[:18]) for value in values if _DIGITS.search(value)]
    downs = sum(b < a for a, b in pairwise(numbers))
    return len(numbers) >= PRESENT * len(values) and downs < _BACK


def _in_strides(values: Iterable[str]) -> bool:
    """Whether the numbers lie apart by one step, as what is reported every so often: processes are numbered one by one, or nearly."""
    numbers = sorted({int(digits[-1][:18]) for value in values if (digits := _DIGITS.findall(value))})
    steps = {b - a for a, b in pairwise(numbers)}
    return len(numbers) > _SEVERAL and len(steps) == 1 and min(steps) >= _STRIDE


_STRIDE = 5
"""The least of such steps: pids of processes that are started together may lie two or three apart."""
_BACK = 2
"""Times that numbers of writers go down at the least: they come again and again."""


def _come_back(values: Sequence[str]) -> bool:
    """Whether values come again after others, as no time does."""
    return _turns(values) >= 2 * len(set(values))


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


def _at_a_time(names: Sequence[str], rests: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether several are in the same step at a time: some count is the same in lines of theirs that follow each other.

    One process that reports has other counts in every line.
    """
    pairs = [
        list(zip(_DIGITS.findall(whole[at]), _DIGITS.findall(whole[at + 1]), strict=False))
        for at in range(len(names) - 1)
        if names[at] != names[at + 1] and rests[at] == rests[at + 1]
    ]
    if not pairs:
        return True
    values: dict[int, set[str]] = defaultdict(set)
    same: Counter[int] = Counter()
    for numbers in pairs:
        for at, (one, other) in enumerate(numbers):
            values[at] |= {one, other}
            same[at] += one == other
    varying = [at for at, told in values.items() if len(told) > 1]
    return not varying or any(same[at] >= TURNS * len(pairs) for at in varying)


def _introduced(there: Sequence[tuple[str, tuple[int, int]]]) -> bool:
    """Whether each of those who are known by words alone says once which of all it is, in the same words.

    Args:
        there: records, and where in each the name of its writer stands.
    """
    said: dict[tuple[str, int], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    names = {line[slice(*place)] for line, place in there}
    listed = {
        word
        for line, place in there
        if _DIGITS.search(line, place[1]) is not None
        for word in re.findall(r"[\w.@-]+", line[place[1] :])
        if word in names
    }
    if len(names) >= _SEVERAL and len(listed) >= PRESENT * len(names):
        return True  # somebody numbers them all
    for line, place in there:
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
    last = dict(zip(values, range(len(values)), strict=True))
    first = dict(zip(reversed(values), range(len(values) - 1, -1, -1), strict=True))
    wide = sum(last[value] - first[value] >= SPAN * len(values) for value in first)
    return 2 * wide >= len(first)


def _in_turns(values: Sequence[str]) -> bool:
    return _turns(values) >= TURNS * len(values)


def _turns(values: Sequence[str]) -> int:
    """How often another value follows."""
    return sum(map(ne, values, islice(values, 1, None)))


def _side_by_side(places: Sequence[int]) -> list[tuple[int, int]]:
    """Stretches of places, from the first to the last of each."""
    found: list[tuple[int, int]] = []
    for at in places:
        if found and found[-1][1] == at - 1:
            found[-1] = found[-1][0], at
        else:
            found.append((at, at))
    return found


def _named(table: Table, first: int, last: int, key: str = "") -> Slot | None:
    """The names that stand from one place to another, if what is said is the same under them."""
    there = table.places(first, last)
    names = [line[slice(*place)] for line, place in there]
    known = Counter(names)
    if len(known) < WHOSE or len(names) < AGAIN * len(known) or not (_spans(names) and _in_turns(names)):
        return None
    whole = [line[: place[0]] + "\0" + line[place[1] :] for line, place in there]
    rests = [" ".join(_DIGITS.sub("#", text).split()) for text in whole]
    sayers: dict[str, set[str]] = defaultdict(set)
    for name, rest in zip(names, rests, strict=True):
        sayers[rest].add(name)
    shared = sum(len(sayers[rest]) >= WHOSE for rest in rests)
    if shared < ALIKE * len(table.records) or 2 * max(map(len, sayers.values())) < len(known):
        return None
    if 2 * sum(map(_numbered, known)) < len(known) and not _introduced(there):
        return None
    if not _at_a_time(names, rests, whole):
        return None
    heard = {name for said in sayers.values() if len(said) >= max(WHOSE, len(known) / 2) for name in said}
    before: dict[str, list[str]] = defaultdict(list)
    for name, (line, place) in zip(names, there, strict=True):
        before[_before(line, place[0], first)].append(name)
    shapes = Counter(_DIGITS.sub("0", name) for name in heard if any(map(str.isdigit, name)))
    forms = Counter(filter(None, map(_form, heard)))
    found = Slot(
        first,
        last,
        frozenset(name for name in heard if not any(map(_impossible, name.split()))),
        frozenset(
            [shape for shape, times in shapes.items() if times > 1]
            + [form for form, times in forms.items() if times > WHOSE]
        ),
        frozenset(text for text, said in before.items() if len(said) >= AGAIN * len(set(said))),
        processes=not any(map(_ADDRESS.search, heard))
        and sum(_PID.search(name) is not None for name in heard) >= PRESENT * len(heard) > 0,
        key=key,
        lettered=sum(_LEVEL.match(rest, rest.index("\0")) is not None for rest in rests)
        >= PRESENT * len(rests),
    )
    told = sum(named_by(found, line) is not None for line in table.records)
    return found if told >= ALIKE * len(table.records) else None
