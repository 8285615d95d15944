"""Whether one of several processes that start side by side stops short of what all others go on to say.

Where the log ends before anybody is at work, or with waits for it, the start never came to its end. Nobody need
complain: the others wait for the one that is gone or stuck.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from triage.model import Block, Finding, Source
from triage.scan.lazy import deferred
from triage.scan.ordinary.behind import behind
from triage.scan.ordinary.said import Said, finding_of, lines_at_the_end, without_digits

UNREADY = "unknown.silent-at-start"
_MOST = 400
"""Lines at the end that are looked at."""
FEWEST_STEPS = 2
"""Statements of a start that all others have made and the one has not, where nobody says that he waits."""
_STARTS = deferred(
    r"(?i)\b(?:load\w*|weights?|init\w*|captur\w*|compil\w*|kv[ _]?cache|memory|model|ready|connect\w*|tokeni\w*|warm\w*|shards?|alloc\w*"
    r"|backend|start\w*|join\w*|register\w*|set[ -]?up|built|build\w*|profil\w*)\b"
)
"""What the statements of a start are about."""
_WAITS = deferred(
    r"(?i)\b(?:wait(?:s|ing|ed)?|not (?:yet )?ready|no available shared memory|still|pending)\b"
)


_UP = deferred(
    r"(?i)\b(?:startup complete|running on http|ready to roll|listening|serving|server (?:is |has )?(?:started|ready|up)"
    r"|all (?:\w+ ){0,2}(?:ready|started|loaded|up)|init\w* (?:is )?(?:complete[d]?|done|finished))\b"
)
"""How it is said that the whole has started."""


def silent_at_start(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The last line of the one who stopped, None where nobody did, or the log ends with something else than a start."""
    if len(tails) != 1:
        return None
    ((index, block),) = tails.items()
    lines = list(lines_at_the_end(block, sources[index], index, None, _MOST))
    if not lines or not _of_a_start(lines[-1]):
        return None
    likes: dict[str, list[Said]] = defaultdict(list)
    for line in lines:
        if line.writer is not None:
            likes[without_digits(line.writer)].append(line)
    for side_by_side in likes.values():
        for short in behind(side_by_side, sources):
            own = next(line for line in side_by_side if line.offset == short.offset)
            below = [line for line in lines if line.offset > own.offset]
            if all(_of_a_start(line) for line in below) and _came_further(own, side_by_side, below):
                fields = {
                    "words": " ".join(own.message.split())[:160],
                    "further": short.fields.get("further"),
                }
                return finding_of(UNREADY, own, sources, fields, last=below[-1])
    return None


def _came_further(own: Said, side_by_side: Sequence[Said], below: Sequence[Said]) -> bool:
    """Whether the others are so much further that the one is not only a little late, or somebody waits."""
    if any(_WAITS.search(line.message) for line in below):
        return True
    said: dict[str | None, set[str]] = defaultdict(set)
    for line in side_by_side:
        said[line.writer].add(line.wording)
    others = [wordings for writer, wordings in said.items() if writer != own.writer]
    return len(set.intersection(*others) - said[own.writer]) >= FEWEST_STEPS


def _of_a_start(line: Said) -> bool:
    """Whether a line tells of a start, or of waiting for it, and not that it is over."""
    if _UP.search(line.message) is not None:
        return False
    return _STARTS.search(line.message) is not None or _WAITS.search(line.message) is not None
