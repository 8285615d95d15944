"""Whether the last thing that a program's logger says is an exception's name and words, in whatever tone.

What comes below is said by others, who say it whatever became of the program: a script, a container's entry point.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from triage.model import Block, Finding, Source
from triage.scan.closing.done import says_done
from triage.scan.closing.wordings import HANDS_OVER
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.recovery import FRESH
from triage.scan.ordinary.said import Said, finding_of, whole_lines, without_digits

MENTIONED = "unknown.stated"
_END = 8 << 10
"""Bytes at an end in which it is looked for."""
_ABOVE, _BELOW = 20, 12
"""Lines above it in which the work would be said to be done, and lines below it that others may say."""
MUCH = 4
"""Lines of one wording that count work."""
_IN_THE_WORK = deferred(
    r"(?i)\b(?:main|train\w*|fit|epoch|step|inner|outer) ?(?:loop|\(\))|\bout of memory\b|\billegal memory\b|\bdevice-side\b"
)
"""What is met in the midst of the work."""
_GRAVE = frozenset(["error", "fatal"])
"""Levels at which it is no mere mention."""
_IS_ONE = deferred(
    r"(?i:\w+(?:\.\w+)*: )?(?i:(?:caught|exception|error|raised|failed)\b[^\n:]{0,40}: "
    r"|(?:the |main |inner |outer )*(?:loop|fit(?:\(\))?|train(?:ing|er)?|run|job|main(?:\(\))?)(?!\w)[ \w]{0,12}"
    r"\b(?:left|ended|stopped|aborted|exited|quit|died|broke|failed)\b[ \w]{0,12}(?:: | (?:with|by|on) ))?"
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?:(?:\([\w.]+\))?: \S|\((?:\d+, )?['\"])"
)
"""What is said is nothing but an exception."""
_CLOSES = deferred(
    r"(?i)\b(?:succe\w+|finish\w*|complet\w*|done|ended|exit(?:s|ed|ing)?|return(?:s|ed)?|stopped|over|bye|clean\w*|leav\w+"
    r"|upload\w*|sync\w*|shut\w*|states?)\b"
)
"""How it is said of a run that it is over, and what is done then."""
_REMEDY = deferred(
    r"(?i)Warning: |\b(?:teardown|tear(?:ing)? down|shut ?down|interpreter|clos\w+|track\w+|using|us(?:es|ed)|default\w*|cached?|optional"
    r"|as expected|expected\W*$|remount\w*|re-?connect\w*|handled|without|disabl\w*"
    r"|wandb|mlflow|telemetry|metrics|tensorboard|threads?|halving|smaller|reduc\w+|evict\w*)\b"
)


def mentioned(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The line, None where the logger goes on below it, or had said before that all is done."""
    if len(tails) != 1:
        return None
    ((index, block),) = tails.items()
    lines = [line for line in whole_lines(block, sources[index], index, _END) if line.message.strip()]
    at = _last_of_the_program(lines)
    if at is None:
        return None
    line = lines[at]
    if (
        line.prefix.level in _GRAVE
        or _IS_ONE.match(line.message) is None
        or any(pattern.search(line.message) for pattern in (_REMEDY, compiled(FRESH)))
    ):
        return None
    if any(says_done(said.text) or HANDS_OVER.search(said.text) for said in lines[max(0, at - _ABOVE) : at]):
        return None
    if _IN_THE_WORK.search(line.message) is None and _worked(lines[:at]):
        return None  # what came after the work may have been got over
    return finding_of(MENTIONED, line, sources, {"words": " ".join(line.message.split())[:160]})


def _worked(lines: Sequence[Said]) -> bool:
    """Whether work is counted in so many lines that it may have come to its end."""
    told: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        told[without_digits(line.message)].add(line.message)
    return any(len(different) >= MUCH for different in told.values())


def _last_of_the_program(lines: Sequence[Said]) -> int | None:
    """The last line that a logger wrote, but for those that only say that all is over."""
    for at in range(len(lines) - 1, max(-1, len(lines) - 1 - _BELOW), -1):
        line = lines[at]
        if _logged(line) and (
            _CLOSES.search(line.message) is None or _IS_ONE.match(line.message) is not None
        ):
            return at
        if line.prefix.level is not None and not _logged(line):
            return None
    return None


def _logged(line: Said) -> bool:
    """Whether a program's logger wrote a line: with a level and a time."""
    return line.prefix.level is not None and line.prefix.time is not None
