"""How all writers of a job end: in the same words, which say that they are through; or all but one.

What a program says at its end nobody has to know where each of its processes says it, once, last of all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from triage.model import Block, Finding, Source
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import WINDOW, Said, any_line, finding_of, without_digits

IN_CONCERT = "progress.in-concert"
LEFT_OUT = "unknown.left-out-of-the-end"
FEWEST = 2
"""Writers that end alike."""
FEWEST_OTHERS = 3
"""Writers that end alike where one does not."""
GLANCE = 2 << 10
"""Bytes at the end of a log in which somebody's last line is mostly found."""
BETWEEN = 4
"""Lines among which each last one of a process without a name may stand."""
_THROUGH = (
    r"(?i)\b(?:finished|completed?|done|exported|saved|written|wrote|reached|converged|succe(?:ss\w*|eded)|consumed(?! samples:))\b"
    r"|\ball good\b"
)
"""What is said of work that has been done."""
_OF_A_PART = (
    r"(?i)\b(?:init\w*|set[ -]?up|load\w*|warm\w*|compil\w*|download\w*|connect\w*|join\w*|start\w*|prepar\w*|tokeni\w*|buil[dt]\w*"
    r"|captur\w*|import\w*|resum\w*|restor\w*|check(?:ing|s|ed)?|barrier|sync\w*|broadcast\w*|batch(?![ _-]?size)"
    r"|cache[ds]?|data(?:set)?)\b"
)
"""What comes before the work, or is a part of it."""
_IN_ORDER = (
    r"(?i)\b(?:normal end|(?:end(?:s|ed|ing)?|leav(?:es|ing)|left|stop(?:s|ped|ping)?|exit(?:s|ed|ing)?|quit(?:s|ting)?|clos(?:es|ed|ing))"
    r" (?:normally|cleanly|gracefully|well|as planned|as intended|in order))\b"
)
"""What is said of an end that was meant, whatever else the line says."""
_STATUS = (
    r"(?i)\b(?:status|code|rc|exit\w*|returned|signal)\b[^\n\w-]{0,3}(?:with )?(?:status |code )?-?[1-9]"
)
"""A status that something bad is told by."""
_BADLY = (
    r"(?i)\b(?:error|fail\w*|fatal|exception|abort\w*|kill\w*|crash\w*|time[ds]? ?out|lost|stuck|giv(?:e|ing) up|gave up|interrupt\w*"
    r"|cancel\w*|early|waiting|leaving|stopping|exiting|quit\w*|shut\w*|terminat\w*|unfinished|in?complete[ln]\w*|not|no|never|nothing)\b"
)
_NUMBERED = r"[^\n\d]{0,40}?\b(?:worker|actor|process|proc|env|rank|task|replica|shard|gpu|node|client)[ _#=:-]{0,2}(\d{1,4})\b"
"""How those who are told apart by a number begin their lines."""
NOBODYS = r"\s*$|\s*[=*#~_+-]{3,}|[^\n]{0,40}\bdestroy_process_group\(\) was not called|[^\n]{0,80}\bresource_tracker\b|\s*warnings\.warn\("
"""Empty lines, rules, and what interpreters and libraries say on their way out."""
_ASIDE = (
    rf"{NOBODYS}|[^\n]{{0,60}}\bNCCL INFO "
    r"|(?:\[\d+\.(?:\d+|extern|batch)\] )?done with job\s*$"  # slurmd, however the step came out
    r"|(?:wandb|swanlab)\b|\s*(?:rc|exit(?: code| status)?|status|real|user|sys)[ =:]{1,3}0?\b"
)
"""What is said behind the last words of a program, whatever they were."""


def in_concert(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The last line of the writer that ended last, where all have ended in its words; None where one has not."""
    if not _worth_reading(tails, sources):
        return None
    lines = list(_lines(tails, sources))
    own = ranks_of_streams(lines)
    named: dict[str | int, Said] = {
        own.get((line.source, outer(line)), line.writer): line for line in lines if line.writer is not None
    }
    if not named and len(tails) > 1:
        named = {line.source: line for line in lines}  # a log for each of them
    last = list(named.values()) or _nameless(lines)
    if len(tails) == 1:
        last = _of_the_last_run(named, lines) or last
    wordings = {_wording(line) for line in last}
    if len(last) < FEWEST or len(wordings) != 1:
        return None
    (wording,) = wordings
    final = max(last, key=lambda line: (line.source, line.offset))
    behind = (
        line for line in lines
        if line.writer is None and line not in last and _after(line, final) and not says_that_it_is_through(line)  # their launcher
    )  # fmt: skip
    if sum(_wording(line) == wording for line in lines) != len(last) or next(behind, None) is not None:
        return None
    if not all(says_that_it_is_through(line) for line in last):
        return None
    return finding_of(IN_CONCERT, final, sources, {"writers": len(last)})


def _of_the_last_run(named: Mapping[str | int, Said], lines: Sequence[Said]) -> list[Said]:
    """The last lines of those who say that they are through, where all others had ended before the first of these began."""
    through = {line.writer: line for line in named.values() if says_that_it_is_through(line)}
    if not FEWEST <= len(through) < len(named):
        return []
    began = min(line.offset for line in lines if line.writer in through)
    over = all(line.offset < began for line in named.values() if line.writer not in through)
    return list(through.values()) if over else []


def left_out(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The last line of the one writer that breaks off in its work, where all others end in the same words as being through."""
    if not _worth_reading(tails, sources, but_for=1):
        return None
    lines = list(_lines(tails, sources))
    own = ranks_of_streams(lines)
    by_writer: dict[str | int, list[Said]] = defaultdict(list)
    for line in lines:
        writer = line.source if len(tails) > 1 else own.get((line.source, outer(line)), line.writer)
        if writer is not None:
            by_writer[writer].append(line)
    ends = {writer: said[-1] for writer, said in by_writer.items()}
    through = Counter(_wording(line) for line in ends.values() if says_that_it_is_through(line))
    if len(ends) < FEWEST_OTHERS + 1 or len(through) != 1:
        return None
    ((wording, often),) = through.items()
    odd = [writer for writer, line in ends.items() if _wording(line) != wording]
    if len(odd) != 1 or often != len(ends) - 1:
        return None
    said = by_writer[odd[0]]
    others = {
        _wording(line) for writer, lines in by_writer.items() if writer not in odd for line in lines[:-1]
    }
    if any(_wording(line) == wording for line in said) or _wording(said[-1]) not in others:
        return None  # it has a part of its own
    found = finding_of(
        LEFT_OUT, said[-1], sources, {"words": " ".join(said[-1].message.split())[:160], "others": often}
    )
    if found.rank is None and len(tails) < 2:
        numbers = {writer: compiled(_NUMBERED).match(line.text) for writer, line in ends.items()}
        told = {writer: int(number[1]) for writer, number in numbers.items() if number is not None}
        if sorted(told.values()) == list(range(len(ends))):
            return replace(found, rank=told[odd[0]])
    if found.rank is not None or len(tails) < 2:
        return found
    return replace(found, rank=_number(sources[said[-1].source], [sources[i] for i in tails]))


def _number(source: Source, of: Sequence[Source]) -> int | None:
    """The number by which a log's name differs from those of all others, where they count from zero."""
    names = [each.path or each.name for each in (source, *of)]
    numbers = [int(found[-1]) if (found := compiled(r"\d+").findall(name)) else -1 for name in names]
    alike = len({without_digits(name) for name in names}) == 1
    return numbers[0] if alike and sorted(numbers[1:]) == list(range(len(of))) else None


def _worth_reading(tails: Mapping[int, Block], sources: Sequence[Source], but_for: int = 0) -> bool:
    """Whether the last line with a name in the last log says that its writer is through: all must, so most jobs are told by it.

    Args:
        but_for: how many of the writers need not; as many more logs or lines are looked at.
    """
    for index in sorted(tails, reverse=True)[: but_for + 1]:
        lines = list(_lines_of(tails[index], sources[index], index, GLANCE))
        named = [line for line in lines if line.writer is not None]
        if (
            not named
            or says_that_it_is_through(lines[-1])
            or any(says_that_it_is_through(line) for line in named[-1 - but_for :])
        ):
            return True
    return False


def says_that_it_is_through(line: Said) -> bool:
    """Whether a line says that its writer is through, and not badly."""
    wording = _wording(line)
    if (
        line.prefix.level in {"warning", "error", "fatal"}
        or compiled(_STATUS).search(line.message) is not None
    ):
        return False
    return compiled(_IN_ORDER).search(wording) is not None or (
        compiled(_THROUGH).search(wording) is not None
        and compiled(_BADLY).search(wording) is None
        and compiled(_OF_A_PART).search(wording) is None
    )


def ranks_of_streams(lines: Sequence[Said]) -> dict[tuple[int, str], str]:
    """The rank that a launcher's name before lines stands for, where one rank speaks under it: stacks do not say whose they are."""
    ranks: dict[tuple[int, str], set[str]] = defaultdict(set)
    for line in lines:
        if line.writer is not None and line.writer.isdecimal() and line.prefix.stream:
            ranks[line.source, outer(line)].add(line.writer)
    return {place: told.pop() for place, told in ranks.items() if len(told) == 1}


def outer(line: Said) -> str:
    """The outermost of the names that stand before a line: the launcher's."""
    return line.prefix.stream.partition("/")[0]


def _nameless(lines: Sequence[Said]) -> list[Said]:
    """The last lines of processes that write into one log under no name, as far as they are in one wording.

    Others may still say what they say as they go, in between.
    """
    if not lines or len({line.source for line in lines}) > 1:
        return []
    wording = _wording(lines[-1])
    found = [line for line in lines if _wording(line) == wording]
    return found if lines.index(found[0]) >= len(lines) - BETWEEN * len(found) else []


def _lines(tails: Mapping[int, Block], sources: Sequence[Source]) -> Iterator[Said]:
    for index, block in sorted(tails.items()):
        yield from _lines_of(block, sources[index], index, WINDOW)


def _lines_of(block: Block, source: Source, index: int, size: int) -> Iterator[Said]:
    """The whole lines in the last ``size`` bytes of a log, but for what is said aside."""
    start = max(0, len(block.data) - size)
    start = block.data.find(b"\n", start) + 1 if start else 0
    for line in any_line(block, source, index, start):
        if compiled(_ASIDE).match(line.message) is None:
            yield line


def _after(one: Said, other: Said) -> bool:
    return one.source == other.source and one.offset > other.offset


def _wording(line: Said) -> str:
    return " ".join(without_digits(line.message).split())
