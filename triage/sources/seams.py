"""Several files in one without a word between them, as ``cat job.err job.out`` prints them: each a source of its own again.

What stands below was not said later then. Where another file begins shows in three things: the time goes back by
nearly all that it had gone on; a line with which the whole begins stands there again, for another rank; or a
launcher has given up, and what follows is not what it prints when it is run once more.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from triage.model import Source
from triage.sources.blocks import whole_of
from triage.sources.constants import HEAD_SIZE
from triage.sources.labels import labelled
from triage.sources.turned import oldest_first

LARGEST = 8 << 20
"""Bytes of a file that is taken apart."""
_WITHIN = 80
"""Bytes of a line in which its time stands."""
_STAMP = re.compile(
    rb"(?:\b(?:(?:\d{4}[-/])?(?P<mon>\d\d)[-/](?P<day>\d\d)[T _]\s?|(?P<umon>\d\d)/(?P<uday>\d\d)/\d{4}[ -]"
    rb"|[IWEFD](?P<gmon>\d\d)(?P<gday>\d\d) |(?P<name>[A-Z][a-z]{2}) {1,2}(?P<nday>\d{1,2}) ))?"
    rb"(?<![^\s\[(\"'=|T_])(?P<h>[01]\d|2[0-3]):(?P<m>[0-5]\d):(?P<s>[0-5]\d)(?![\d:<])"
)
_MONTHS = {
    name: str(number).encode()
    for number, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)
}
_DAY = 86400
_YEAR, _MOST_OF_A_YEAR = 12 * 31 * _DAY, 300 * _DAY
_FEW = 4
"""Sources that are looked at: who has joined the logs of a job gives one or two."""
_JUMP = 10
"""Seconds by which the time goes back at least: torch's C++ code takes a fraction from another second than it prints."""
_OLDER = 3
"""Stamped lines in a row that are older than what stands above: a writer who was late has fewer."""
_FEWEST, _EACH = 6, 4
"""Stamped lines of a log that is looked at, and of each file in it as a rule."""
_MOST = 64
"""Files in one."""
_QUOTED = re.compile(rb"\stime {2,}: ")
"""How torchrun's report begins a line with the time of an end, in whatever order it lists them."""
_TABLE = re.compile(rb"^Root Cause \(first observed failure\):\s*$")
_RULER = re.compile(rb"^={20,}\s*$")
_REPORT = 400
"""Rows of the last part of such a report, which may quote a traceback."""
_BANNER = b"Setting OMP_NUM_THREADS environment variable"
_AGENT = re.compile(rb"torch[/.]distributed[/.](?:elastic|run|launcher)|^(?:\w+: )?(?:srun|slurmstepd): ")
_COUNTS = re.compile(
    rb"(?i)(?<![\w.])(?:(?:global_|train_)?(?:step|iter(?:ation)?|epoch|batch|update)s?)\b\W{0,6}\d"
)
_LABELLED = re.compile(rb"^(?:\[[a-z]{2,12}(?<!rank)\d{1,5}\]:|\[\d+,\d+\]<std|\d{1,5}: )")
_BY_TORCHRUN = re.compile(rb"^\[default\d{1,5}\]:")
_EXIT = b"destroy_process_group() was not called before program exit"
_AT_FIRST = re.compile(
    rb"(?i)(?<![\w.])(?:(?:global_|train_)?(?:step|iter(?:ation)?|epoch|batch|update)s?)\b\W{0,6}[01]\b"
)
_NEAR = 12
"""Rows below a launcher's last in which the work of another file begins."""
_RANK = re.compile(rb"(?i)\b(?:global[_ -]?)?rank\W{0,3}(\d{1,6})\b")
_FIRST = 4
"""Rows among which a log says whose it is."""
_DIGITS = b"0123456789"


class _Time(NamedTuple):
    row: int
    seconds: int
    form: bytes
    """How the stamp is written: clocks of two kinds may be of two zones."""


def parted(
    sources: Iterable[Source], known: Callable[[str, bytes], object | None]
) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """``sources``, those that are several logs one after the other replaced by these, and a note for each.

    A part keeps the name of the whole, and counts its lines from the whole's beginning. What is ``known`` by its name
    and first bytes to be something else than a log is left alone.
    """
    result: list[Source] = []
    notes: list[str] = []
    sources = tuple(sources)
    if len(sources) > _FEW:
        return sources, ()  # whoever gives as many has not joined them
    for source in sources:
        data = b"" if source.kind is not None or source.rank is not None else whole_of(source, LARGEST)
        rows = data.split(b"\n") if data and b"\0" not in data[:1024] else []
        cuts = _seams(rows) if len(rows) >= _FEWEST else []
        if not cuts or known(source.name, data[:HEAD_SIZE]) is not None or oldest_first(data) is not None:
            result.append(source)
            continue
        notes.append(
            f"{source.name}: it is {len(cuts) + 1} logs one after the other, the next from line "
            + ", ".join(str(source.above + cut + 1) for cut in cuts)
        )
        result += labelled(
            replace(
                source,
                path=_called(source.path or source.name, number),
                data=b"\n".join(rows[begin:end] + [b""] * (end < len(rows))),
                above=source.above + begin,
            )
            for number, (begin, end) in enumerate(pairwise([0, *cuts, len(rows)]))
        )
    return tuple(result), tuple(notes)


def _called(path: str, number: int) -> str:
    """What tells the writers of a part from those of others: a name without a number, which would be taken for a rank's."""
    if number == 0:
        return path
    root, ending = os.path.splitext(path)
    return f"{root}:{chr(ord('a') + number // 26)}{chr(ord('a') + number % 26)}{ending}"


def _seams(rows: Sequence[bytes]) -> list[int]:
    """The rows with which another file begins."""
    below = _below_reports(rows)
    found = {*_back_in_time(rows), *below, *_introduced_again(rows), *_launchers(rows, below)}
    cuts = sorted(cut for cut in found if any(row.strip() for row in rows[:cut]))
    return cuts if len(cuts) < _MOST else []


def _back_in_time(rows: Sequence[bytes]) -> list[int]:
    """Rows at which the time goes back by nearly all that it had gone on, to about where all of it began."""
    times = _times(rows)
    if len(times) < _FEWEST:
        return []
    earliest = min(time.seconds for time in times)
    half = earliest + (max(time.seconds for time in times) - earliest) / 2
    found: list[int] = []
    begun = latest = times[0].seconds
    forms = {times[0].form: latest}
    openings = _openings(rows)
    reports = _ends_of_reports(rows)
    refused = 0
    for at, time in enumerate(times[1:], 1):
        back = latest - time.seconds
        if (
            back >= _JUMP
            and back * 2 >= latest - begun
            and time.seconds <= half
            and (_same_zone(back) or time.form in forms)
            and all(later.seconds < latest for later in times[at : at + _OLDER])
            and len(times) - at >= _OLDER
        ):
            above = times[at - 1].row
            first = _first_of(openings, above, time.row, len(found) + 1)
            if latest < half and first is None:
                refused += 1
                if refused > _MOST:
                    return []
                continue  # several that begin at the same time may say so late
            if first is None:
                first = next((end + 1 for end in reports if above < end < time.row), time.row)
            found.append(first)
            begun = latest = time.seconds
            forms = {}
        latest = max(latest, time.seconds)
        forms[time.form] = latest
    return found if len(found) * _EACH < len(times) else []


def _times(rows: Sequence[bytes]) -> list[_Time]:
    """When rows were written, in seconds; a time of day alone counts where no row tells the day."""
    dated: list[_Time] = []
    bare: list[_Time] = []
    for at, row in enumerate(rows):
        if b":" not in row[:_WITHIN] or _QUOTED.search(row) is not None:
            continue
        found = _STAMP.search(row, 0, _WITHIN)
        if found is None:
            continue
        seconds = int(found["h"]) * 3600 + int(found["m"]) * 60 + int(found["s"])
        form = row[: found.end()].translate(None, _DIGITS)
        day = found["day"] or found["uday"] or found["gday"] or found["nday"]
        month = found["mon"] or found["umon"] or found["gmon"] or _MONTHS.get(found["name"])
        if day is None or month is None:
            bare.append(_Time(at, seconds, form))
        else:
            dated.append(_Time(at, (int(month) * 31 + int(day)) * _DAY + seconds, form))
    if dated:
        return _over_new_year(dated)
    days = 0
    for at, (above, time) in enumerate(pairwise(bare), 1):
        days += _DAY * (above.seconds - time.seconds > _DAY / 2)  # midnight
        bare[at] = time._replace(seconds=time.seconds + days)
    return bare


def _over_new_year(times: Sequence[_Time]) -> list[_Time]:
    """``times`` whose years are counted on where they go back by most of one."""
    found = [times[0]]
    years = 0
    for above, time in pairwise(times):
        years += _YEAR * (above.seconds - time.seconds > _MOST_OF_A_YEAR)
        found.append(time._replace(seconds=time.seconds + years))
    return found


def _same_zone(apart: int) -> bool:
    """Whether two clocks that are so far apart do not merely stand in two time zones."""
    return abs(apart - round(apart / 1800) * 1800) > 120 or apart < 1800


def _openings(rows: Sequence[bytes]) -> list[int]:
    """The rows that are as the first one, but for its numbers."""
    head = next(row.translate(None, _DIGITS) for row in rows if row.strip())
    return [at for at, row in enumerate(rows) if row.translate(None, _DIGITS) == head]


def _first_of(openings: Sequence[int], above: int, below: int, files: int) -> int | None:
    """The row down to ``below`` with which a file begins as the ``files`` above did, each of them once; None where none does."""
    begun = bisect_right(openings, above)
    return openings[begun] if begun == files and begun < len(openings) and openings[begun] <= below else None


def _introduced_again(rows: Sequence[bytes]) -> list[int]:
    """Rows that are one of the very first but for their rank, where each rank comes once and work is counted between."""
    filled = [at for at, row in enumerate(rows[: _FIRST * 4]) if row.strip()][:_FIRST]
    for first in filled:
        if _COUNTS.search(rows[first]) or _LABELLED.match(rows[first]) or rows[first].startswith(b"[rank"):
            continue
        named = _RANK.search(rows[first])
        if named is None:
            continue
        alike = rows[first].translate(None, _DIGITS)
        places = [
            at for at, row in enumerate(rows) if len(row) < 400 and row.translate(None, _DIGITS) == alike
        ]
        ranks = [found[1] for at in places if (found := _RANK.search(rows[at])) is not None]
        apart = all(
            any(_COUNTS.search(row) is not None for row in rows[one:other]) for one, other in pairwise(places)
        )
        if len(places) > 1 and apart and len(set(ranks)) == len(places):
            lead = first - filled[0]
            return [at - lead for at in places[1:]]
    return []


def _below_reports(rows: Sequence[bytes]) -> list[int]:
    """Rows below a launcher's last report where work is counted that it did not print, or would have printed otherwise."""
    found: list[int] = []
    reports = _ends_of_reports(rows)
    banner = next((at for at, row in enumerate(rows) if _BANNER in row), len(rows))
    label = next(
        (at for at, row in enumerate(rows) if _LABELLED.match(row) and _COUNTS.search(row)), len(rows)
    )
    for end in sorted([*reports, *_exits(rows)]):
        below = [
            place for place in range(end + 1, min(len(rows), end + 1 + 2 * _NEAR)) if rows[place].strip()
        ]
        near = [rows[place] for place in below[:_NEAR]]
        counted = next((n for n, text in enumerate(near) if _COUNTS.search(text) is not None), None)
        if counted is None or any(_AGENT.search(t) is not None or _BANNER in t for t in near[: counted + 1]):
            continue
        if end not in reports and _AT_FIRST.search(near[counted]) is None:
            continue  # another process may work for longer
        if banner < end or (label < end and not any(_LABELLED.match(text) is not None for text in near)):
            found.append(below[0])
    return found


def _launchers(rows: Sequence[bytes], below: Sequence[int]) -> list[int]:
    """Rows with which other launchers begin than those of which something stands above.

    Below what stands ``below`` a report that was not the last of its own file, each banner begins one. So does the first
    of all below lines that a launcher has labelled already, and one below a report whose processes write no later
    than those did of which the report tells: nobody is begun again within a second.
    """
    found: list[int] = []
    reports = _ends_of_reports(rows)
    banners = [at for at, row in enumerate(rows) if _BANNER in row]
    if len(banners) > _MOST:
        return []
    times = _times(rows) if banners and reports else []
    for at in banners:
        begin = at - 1 if at and rows[at - 1].startswith(b"*****") else at
        cut = max([*(cut for cut in (*below, *found) if cut <= begin)], default=None)
        end = max((end for end in reports if end < begin), default=None)
        if cut is not None:
            anew = any(row.strip() for row in rows[cut:begin])
        elif end is not None:
            before = max((time for time in times if time.row < end), default=None)
            after = min((time for time in times if time.row > at), default=None)
            close = before is not None and after is not None and after.seconds - before.seconds <= 1
            anew = close and not any(row.strip() for row in rows[end + 1 : begin])
        else:
            anew = at == banners[0] and any(_BY_TORCHRUN.match(row) is not None for row in rows[:begin])
        if anew:
            found.append(begin)
    return found


def _exits(rows: Sequence[bytes]) -> list[int]:
    """The last rows in which torch says of a process that its interpreter ends with its group still up."""
    said = [at for at, row in enumerate(rows) if _EXIT in row]
    return [at for at, following in pairwise([*said, len(rows) + _NEAR]) if following - at >= _NEAR]


def _ends_of_reports(rows: Sequence[bytes]) -> list[int]:
    """The last row of each report with which torchrun gives up."""
    heads = (at for at, row in enumerate(rows) if row.startswith(b"Root Cause") and _TABLE.match(row))
    ends = (
        next(
            (below for below in range(at + 1, min(len(rows), at + _REPORT)) if _RULER.match(rows[below])),
            None,
        )
        for at in heads
    )
    return [end for end in ends if end is not None]
