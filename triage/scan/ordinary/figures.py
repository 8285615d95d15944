"""Whether what a program trains is lost from some line on: its loss is no number, or every step is left out, to the end of the log.

By itself neither ends a job. One that finds back to numbers has only warned; one that never does has nothing to show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from triage.model import Block, Finding, Source, Value
from triage.scan.lazy import compiled, deferred
from triage.scan.ordinary.said import Said, finding_of, whole_lines, window_of
from triage.scan.tracebacks.lines import names_exception

NOT_FINITE, SKIPPED = "numerics.never-finite-again", "numerics.every-step-skipped"
FEWEST = 3
"""Lines without a number, one below the other, that are no slip."""
FEWEST_OF_START = 6
"""The same where no number was ever seen: some have no loss before they have gathered data."""
FEWEST_OF_MANY_STEPS = 2
"""The same where the steps are counted, and there were so many before that a loss would be known."""
_MANY_STEPS = 100
_STEP = deferred(r"(?i)\b(?:step|iter(?:ation)?|update)s?\b[^\w\n]{0,12}(\d{1,9})\b")
FEWEST_NANS = 12
"""The same where there were numbers before, and it is said that there is none now: no scale brings those back."""
_THROUGH = deferred(r"(?<![\d.])100(?:\.0+)? ?%|(?<![\w./:-])([3-9]|[1-9]\d+) ?(?:/|of) ?\1(?![\w/:]|\.\d)")
"""How it is counted that all of the work is done: what never was a number by then will be none."""
FEWEST_SKIPPED = 40
"""Steps left out one after the other that no search for a scale needs: it may begin at two to the power of 32."""
FEWEST_AT_BOTTOM = 5
"""The same where the scale is at its lowest, or below one."""
_NUMBER = r"[-+]?(?:(?:nan|inf(?:inity)?)(?:\.0)?|\d[\d,]*\.?\d*(?:e[-+]?\d+)?)"
_FIGURE = deferred(
    r"(?i)(?<![\w-])(?P<key>(?:[a-z][\w-]*[/. ]){0,2}[a-z]*_?(?:loss(?:es)?|g(?:rad(?:ient)?)?[_ ]?norm|perplexity|ppl|bpb|bpc|nll)"
    r"(?:[/_]\w+){0,2}(?:\([a-z]{1,12}\))?)"
    rf"['\"]?(?: is)?[ \t]*[:=]?[ \t]*['\"(]?(?:tensor\()?(?P<value>{_NUMBER})(?![\w.]|%)"
)
_MAIN = deferred(
    r"(?i)(?:.*[/. ])?(?:(?:train(?:ing)?|total|lm|tr|avg|mean|running|step|batch|epoch|final)[_ ]?)?loss"
    r"(?:[/_](?:train|total|avg|mean)){0,2}(?:\([a-z]+\))?"
)
"""The loss itself, and not a part of it."""
_OF_GRADIENTS = deferred(r"(?i).*\bg(?:rad\w*)?[_ ]?norm|.*grad\w*[_ ]?norm|.*gradient")
_NO_LOSS = deferred(r"(?i)loss[_ ](?:scale|weight|coef\w*|fn|func\w*|type|ratio|mask|spike)")
_LOST = re.compile(rb"(?i)(?<![a-z])(?:nan|inf(?:inity)?)(?![a-z])")
_NOT_TRAINED_YET = deferred(
    r"(?i)\b(?:warm-?up|explor\w*|random|buffer|replay|episodes?|returns?|rewards?)\b"
)
_SKIPS = deferred(
    r"(?i)\b(?:grad\w*|step|update|batch|iteration|it|optimi[sz]er)\b.{0,60}?\bskip(?:s|ped|ping)?\b"
    r"|\bskip(?:s|ped|ping)? (?:the |this |optimi[sz]er )*(?:step|update|iteration|batch)"
)
_CELLS = deferred(rf"(?i){_NUMBER}")
_ROW = deferred(rf"(?i)\s*(?:{_NUMBER}\s*[,;|\t ]\s*)+{_NUMBER}\s*")
FEWEST_CELLS = 4
"""Cells that make a row."""
_RESTORES = deferred(r"(?i)\b(?:restor\w*|roll(?:s|ed|ing)? ?back|revert\w*|reload\w*|rewind\w*|rewound)\b")
_TRIAL = deferred(r"(?i)\btrial[ _#:=]{0,2}\d{1,6}\b")
"""What a tuner calls each of its tries: what becomes of one says nothing of the others."""
_TALLY = deferred(r"(?i)\b(?:number of )?(?:skipped|nan)(?: \w+)?[ =:]{1,4}\d+")
"""How many were left out so far."""
_ITERATIONS = deferred(r"\biteration +(\d+) ?/ *\d+ \|[^\n]*\bnumber of skipped iterations: +(\d+)")
_REPORT = deferred(r"\biteration +\d+ ?/ *\d+ \|[^\n]*\bnumber of nan iterations: +(\d+)")
"""Megatron's report of iterations: its loss is left out where it is no number."""
_NAN = deferred(r"(?i)(?<![a-z])nan(?![a-z])")
_OVERFLOW = deferred(r"(?i)\b(?:overflow\w*|non-?finite|not finite|nan|inf)\b")
_SKIP_BYTES = re.compile(rb"(?i)skip")
_SCALE = deferred(
    r"(?i)\bscale\b[^\n\d]{0,24}(\d[\d.]*(?:e[-+]?\d+)?)(?:, reducing to (\d[\d.]*(?:e[-+]?\d+)?))?"
)


@dataclass(slots=True, eq=False, repr=False)
class _Course:
    """What one writer's lines tell, from the last good one on."""

    ever: bool = False
    bad: list[Said] = field(default_factory=list)
    before: list[Said] = field(default_factory=list)
    """The same, from before something was restored of which nothing is told yet."""
    skipped: list[Said] = field(default_factory=list)
    at_bottom: int = 0
    nans: int = 0
    """Of those, the steps that were left out because something was no number, where no scale is searched for."""
    restored: int = 0
    """How often what had been saved was taken up without a good line since."""
    gathering: bool = False
    nameless: bool = False

    def told(self, line: Said) -> str:
        """What tells a line from others: not the name of who wrote it."""
        return line.text if self.nameless else line.message


def lost(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The first and the last of the lines that show it, None where somebody still has numbers."""
    window = window_of(len(tails))
    ends = [block.data[-window:] for block in tails.values()]
    if not any(_LOST.search(end) or _SKIP_BYTES.search(end) for end in ends):
        return None
    courses = [
        course for index, block in sorted(tails.items())
        for course in _courses(whole_lines(block, sources[index], index, window))
    ]  # fmt: skip
    return _of(courses, sources) if courses else None


def _of(courses: list[_Course], sources: Sequence[Source]) -> Finding | None:
    if all(len({c.told(line) for line in c.bad}) >= _fewest(c) for c in courses):
        first = min((c.bad[0] for c in courses), key=lambda s: (s.source, s.offset))
        last = max((c.bad[-1] for c in courses if c.bad[0].source == first.source), key=lambda s: s.offset)
        value = _value(first)
        fields: dict[str, Value] = {"value": value, "times": sum(len(c.bad) for c in courses)}
        return _whole(finding_of(NOT_FINITE, first, sources, fields, last=last), courses)
    skipping = [c for c in courses if _only_skips(c)]
    if skipping and all(_only_skips(c) or not c.ever for c in courses):
        first, last = skipping[0].skipped[0], skipping[0].skipped[-1]
        fields = {"times": len(skipping[0].skipped)}
        return _whole(finding_of(SKIPPED, first, sources, fields, last=last), courses)
    return None


def _whole(finding: Finding, courses: list[_Course]) -> Finding:
    """Where several lost their numbers, none of them is to blame alone."""
    if len(courses) > 1:
        return replace(finding, rank=None)
    return finding


def _fewest(course: _Course) -> int:
    if course.ever:
        return FEWEST
    if course.gathering:
        return 1 << 30
    if course.bad and _step(course.bad[0].text) >= _MANY_STEPS:
        return FEWEST_OF_MANY_STEPS
    return FEWEST if course.bad and _THROUGH.search(course.bad[-1].text) else FEWEST_OF_START


def _step(text: str) -> int:
    """The step of which a line tells; -1 where it tells none."""
    found = _STEP.search(text)
    return -1 if found is None else int(found[1])


def _only_skips(course: _Course) -> bool:
    return (
        len(course.skipped) >= FEWEST_SKIPPED
        or course.at_bottom >= FEWEST_AT_BOTTOM
        or (course.ever and course.nans >= FEWEST_NANS)
    )


def _courses(read: Iterator[Said]) -> list[_Course]:
    lines = list(read)
    nameless = _nameless(lines)
    courses: dict[str | None, _Course] = {}
    reached: dict[str | None, int] = {}
    for line in lines:
        whole = _all_left_out(line, reached)
        skips = whole > 0 or _skips(line.text)
        good = None if skips or _is_raised(line.message) else _judged(line)
        if good is None and not skips:
            if _RESTORES.search(line.text):
                for course in courses.values():
                    course.restored += bool(course.bad)
                    if course.restored < FEWEST and course.bad:
                        course.before, course.bad = (
                            course.bad,
                            [],
                        )  # what is lost from there on has yet to be told
            continue
        tried = _TRIAL.search(line.text)
        writer = tried[0] if tried is not None else None if nameless else line.writer
        course = courses.setdefault(writer, _Course(nameless=nameless))
        course.before = []
        if good is True:
            course.ever, course.at_bottom, course.nans = True, 0, 0
            course.restored = 0
            course.bad.clear()
            course.skipped.clear()
        elif skips:
            course.skipped.extend([line] * max(1, whole))
            course.at_bottom += _at_bottom(line.text)
            course.nans += _NAN.search(line.text) is not None and _SCALE.search(line.text) is None
        else:
            course.restored += _RESTORES.search(line.text) is not None
            course.bad.append(line)
            course.gathering |= _NOT_TRAINED_YET.search(line.text) is not None
    for course in courses.values():
        if course.before and not course.ever:
            course.bad = course.before  # there never was anything that could be restored
    return list(courses.values())


def _nameless(lines: Sequence[Said]) -> bool:
    """Whether what seems to tell writers apart is a count: hardly anybody says more than one line."""
    told = [line.writer for line in lines if _judged(line) is not None]
    return len(set(told)) * FEWEST > len(told) * (FEWEST - 1)


def _is_raised(message: str) -> bool:
    """Whether a line begins with the name of an exception, not with that of a logger."""
    return names_exception(message) and message.partition(":")[0].rpartition(".")[2].lstrip()[:1].isupper()


def _all_left_out(line: Said, reached: dict[str | None, int]) -> int:
    """How many iterations a report tells of, if it says that all of them were left out; Megatron prints that.

    Args:
        reached: the iteration that each writer's report before this one had come to.
    """
    found = _ITERATIONS.search(line.text)
    if found is None:
        return 0
    since = int(found[1]) - reached.get(line.writer, 0)
    reached[line.writer] = int(found[1])
    return min(FEWEST_SKIPPED, since) if 0 < since == int(found[2]) else 0


def _skips(text: str) -> bool:
    if "kip" not in text:
        return False
    said = _TALLY.sub("", text)
    return _SKIPS.search(said) is not None and _OVERFLOW.search(said) is not None


def _at_bottom(text: str) -> bool:
    found = _SCALE.search(text)
    if found is None:
        return False
    new = found[2] or found[1]
    return float(new.rstrip(".")) < 1.0 or found[1] == found[2]


def _judged(line: Said) -> bool | None:
    """Whether the losses of a line are numbers, None where it tells of none."""
    if "train_runtime" in line.text:
        return None  # a mean of what numbers there were
    main: list[bool] = []
    parts: list[bool] = []
    zero = True
    gradients: list[bool] = []
    for found in _FIGURE.finditer(line.text):
        key, value = found["key"], found["value"].lower().lstrip("+-")
        if _NO_LOSS.search(key):
            continue
        finite = not value.startswith(("nan", "inf"))
        if _OF_GRADIENTS.fullmatch(key):
            gradients.append(not value.startswith("nan"))
            continue
        (main if _MAIN.fullmatch(key.strip()) else parts).append(finite)
        zero &= not finite or float(value.replace(",", "") or 0) == 0.0
    if not main and not parts:
        return _without_loss(line.text, gradients) if gradients else _of_cells(line.message)
    if main and not all(main):
        return False
    if parts and not main and not any(parts):
        return False
    if zero:
        # trainers that leave out of a mean what is no number print none of it
        return False if gradients and not any(gradients) else None
    return True


def _without_loss(text: str, gradients: Sequence[bool]) -> bool | None:
    """False for a report that has no loss since that was no number, None for what need not have one."""
    report = _REPORT.search(text)
    return False if report is not None and (int(report[1]) > 0 or not any(gradients)) else None


def _of_cells(message: str) -> bool | None:
    """Whether the cells of a row of a table are numbers, None for what is no row of one or has a single cell without a number."""
    if _ROW.fullmatch(message) is None:
        return None
    cells: list[str] = [cell.lower().lstrip("+-") for cell in _CELLS.findall(message)]
    without = sum(cell.startswith(("nan", "inf")) for cell in cells)
    if len(cells) < FEWEST_CELLS or without == 1:
        return None
    return without == 0


def _value(line: Said) -> str:
    found = compiled(r"(?i)(?<![a-z])(?:nan|[-+]?inf(?:inity)?)(?![a-z])").search(line.text)
    return "not finite" if found is None else found[0]
