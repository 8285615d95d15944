"""Who stopped short of what all others went on to say: connected as they did, and never ready as they were.

Processes of one job say the same things in the same order. Where all but one have come to a line, or to a higher
number in it, the one that has not is still at what it said last, or ended there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from triage.model import Finding, Source
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import WORD, Said, finding_of

RULE = "progress.behind"
FEWEST = 3
"""Writers that must have come further, all of them alike."""
ALIKE = 2
"""Of those, writers that have said what the other one said last."""
_COUNT = r"\d{1,9}(?![\w.:-])"
_Writer = tuple[int, str]


def behind(said: Sequence[Said], sources: Sequence[Source]) -> list[Finding]:
    """The last line of the one writer that all others have left behind, and theirs that it never came to."""
    lines = _by_writer(said)
    if len(lines) <= FEWEST:
        return []
    wordings = {writer: _last_of_each(own) for writer, own in lines.items()}
    short: dict[_Writer, Said] = {}
    for wording in set().union(*wordings.values()):
        there = {writer: said[wording] for writer, said in wordings.items() if wording in said}
        missing = [writer for writer in lines if writer not in there]
        if len(missing) == 1 and len(there) >= FEWEST and compiled(WORD).search(wording):
            short.setdefault(missing[0], next(iter(there.values())))
        elif not missing:
            late = _behind_in_count({writer: (line, lines[writer]) for writer, line in there.items()})
            if late is not None:
                short.setdefault(late, there[next(writer for writer in there if writer != late)])
    if len(short) != 1:
        return []
    ((writer, further),) = short.items()
    last = lines[writer][-1]
    if not _passed(last, further, lines, wordings, writer):
        return []
    fields = {
        "words": " ".join(last.message.split())[:200],
        "further": " ".join(further.message.split())[:200],
    }
    return [finding_of(RULE, last, sources, fields)]


def _by_writer(said: Sequence[Said]) -> dict[_Writer, list[Said]]:
    """The lines of each writer in their order; where ranks are named, those of ranks."""
    found: dict[_Writer, dict[int, Said]] = defaultdict(dict)
    ranks = {line.writer for line in said if line.writer is not None and line.writer.isdecimal()}
    named = {line.source for line in said if line.writer is not None}
    for line in said:
        if len(ranks) > FEWEST and line.writer not in ranks:
            continue
        if line.writer is None and line.source in named:
            continue  # of a launcher, or of anybody
        rank = line.writer is not None and line.writer.isdecimal()
        found[(-1 if rank else line.source), line.writer or ""][line.offset] = line
    return {writer: [own[at] for at in sorted(own)] for writer, own in found.items()}


def _last_of_each(own: Sequence[Said]) -> dict[str, Said]:
    return {line.wording: line for line in own}


def _behind_in_count(there: Mapping[_Writer, tuple[Said, Sequence[Said]]]) -> _Writer | None:
    """The writer whose number in a line that counts up is the only one that is lower."""
    counts = {writer: compiled(_COUNT).findall(line.message) for writer, (line, _) in there.items()}
    if len({len(found) for found in counts.values()}) != 1:
        return None
    for at in range(len(next(iter(counts.values())))):
        reached = {writer: int(found[at]) for writer, found in counts.items()}
        highest = max(reached.values())
        low = [writer for writer, number in reached.items() if number < highest]
        if len(low) == 1 and all(
            _counts_up(line, own, at) for w, (line, own) in there.items() if w not in low
        ):
            return low[0]
    return None


def _counts_up(last: Said, own: Sequence[Said], at: int) -> bool:
    rows = [compiled(_COUNT).findall(line.message) for line in own if line.wording == last.wording]
    numbers = [int(row[at]) for row in rows if len(row) > at]
    return len(numbers) > 1 and all(a < b for a, b in pairwise(numbers))


def _passed(
    last: Said, further: Said, lines: Mapping[_Writer, Sequence[Said]], wordings: Mapping[_Writer, Mapping[str, Said]], writer: _Writer,
) -> bool:  # fmt: skip
    """Whether all others have said what the one said last, and came to something further behind it."""
    if last.wording == further.wording:
        return True
    alike = [other for other in lines if other != writer and last.wording in wordings[other]]
    return len(alike) >= ALIKE and all(
        _in_order(lines[other], last.wording, further.wording) for other in alike
    )


def _in_order(own: Sequence[Said], one: str, other: str) -> bool:
    """Whether the first line of one wording comes before the last of the other, which the writer may not have."""
    first = next((at for at, line in enumerate(own) if line.wording == one), len(own))
    last = max((at for at, line in enumerate(own) if line.wording == other), default=-1)
    return first < last
