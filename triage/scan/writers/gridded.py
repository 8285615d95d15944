"""The place in a grid of processes that stands before lines: ``(1, 0) sweep 5``, ``process (2,1): …``, ``[t=0 s=3] …``.

No single line tells what two numbers stand for. Over the lines of a source it shows: they stand at one place of nearly all
records, take all places of a grid, and change from line to line as the processes take turns. Ranks run through a grid
row by row, as MPI numbers those of a Cartesian communicator, unless lines that give a rank beside the place say otherwise.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from triage.scan.lazy import deferred
from triage.scan.writers.marks import NOT_WRITERS

HEAD = 72
"""Characters at the beginning of a line in which the place stands."""
FEWEST = 8
"""Records by which it can be told."""
MOST = 0.65
"""Part of the records that have it."""
AGAIN = 1.5
"""Records that each place has, on the average."""
TURNS = 0.4
"""Part of the records before which another place spoke."""
_MOST_PLACES = 1024
_PLACE = deferred(
    r"[\[(<{] {0,2}(?:[a-z]{1,5}[ =:]{0,2})?(\d{1,3}) ?[,;/| ] ?(?:[a-z]{1,5}[ =:]{0,2})?(\d{1,3}) {0,2}[\])>}]"
)
_NUMBERS = deferred(r"\d+")
_RANK_BESIDE = deferred(r"(?i)(?<![a-z_])rank[ =:#(]{0,2}(\d{1,4})(?![\w.])")
_COUNTED = deferred(
    r"(?i)(?:epoch|ep?|step|iter|round|batch|b|it|try|file|line|loss|acc|lr|node|host|gpu|cuda|local|size|of)[ =:]{0,2}\0"
)
"""Words inside by which something else than rows and columns is counted, or nodes, whose processes have a place there."""
Place = tuple[int, int]


def grid_of(lines: Sequence[str]) -> tuple[re.Pattern[str], int] | None:
    """What matches a record up to the two numbers of its place, its groups, and how many places a row has; None without.

    The width is negative where ranks run down the columns first.
    """
    rows: dict[tuple[str, str], list[tuple[Place, str]]] = defaultdict(list)
    for line in lines:
        found = _PLACE.search(line, 0, HEAD)
        if found is not None:
            before, inside = line[: found.start()], _NUMBERS.sub("\0", found[0])
            rows[_NUMBERS.sub("\0", before), inside].append(((int(found[1]), int(found[2])), line))
    for (before, inside), told in rows.items():
        places = [place for place, _ in told]
        size = _size(places)
        if len(told) < max(FEWEST, MOST * len(lines)) or size is None or not _take_turns(places):
            continue
        if NOT_WRITERS.search(before) is not None or _COUNTED.search(inside) is not None:
            continue
        width = _width(told, size)
        if width:
            return re.compile(_escaped(before) + _escaped(inside, r"(\d{1,3})")), width
    return None


def _size(places: Sequence[Place]) -> Place | None:
    """How many rows and columns there are, where all places of them speak; the last row may be shorter."""
    known = set(places)
    rows, columns = max(row for row, _ in known) + 1, max(column for _, column in known) + 1
    count = len(known)
    if not (rows > 1 and columns > 1 and (rows - 1) * columns < count <= _MOST_PLACES):
        return None
    return (rows, columns) if known == {divmod(n, columns) for n in range(count)} else None


def _take_turns(places: Sequence[Place]) -> bool:
    """Whether each speaks again, and another one than before: steps of an epoch are places that only go up."""
    turns = [(one, other) for one, other in pairwise(places) if one != other]
    downs = sum(1 for one, other in turns if other < one)
    return (
        len(places) >= AGAIN * len(set(places))
        and len(turns) >= TURNS * len(places)
        and 4 * downs >= len(turns)
    )


def _width(told: Sequence[tuple[Place, str]], size: Place) -> int:
    """How many places come before the next row, negative for columns; 0 where ranks told beside places deny both."""
    ranks: Mapping[Place, int] = {
        place: int(rank[1]) for place, line in told if (rank := _RANK_BESIDE.search(line)) is not None
    }
    rows, columns = size
    if all(row * columns + column == rank for (row, column), rank in ranks.items()):
        return columns
    return -rows if all(column * rows + row == rank for (row, column), rank in ranks.items()) else 0


def rank_at(row: int, column: int, width: int) -> int:
    """The rank of a place, by the width that :func:`grid_of` gives."""
    return row * width + column if width > 0 else column * -width + row


def _escaped(text: str, number: str = r"\d+") -> str:
    kinds = {"\0": number, " ": " +"}
    return "".join(kinds.get(char) or re.escape(char) for char in re.sub(" +", " ", text))
