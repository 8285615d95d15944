"""Recognising the lines that tracebacks are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.scan.lazy import Lazy
from triage.scan.tracebacks.model import Link

HEADER = "Traceback (most recent call last)"
_STACK = Lazy(r".{0,400}?" + re.escape(HEADER) + r':  File "')
"""How numpy shows where a module is imported that was built for another numpy: a stack that no exception ends."""
FRAME = Lazy(r'(> | *)File "([^"\n]{1,4096})", line (\d{1,9})(?:, in ([^\n]{1,500}))?\s*$')
"""A frame; loguru points at the one in which it caught the exception."""
CUT_FRAME = Lazy(r' *File "[^"\n]{40,}(?:"(?:, ?[^\n]*)?)?$')
"""A frame that is broken in the middle."""
MARKERS = Lazy(r"[ ~^]+$")
REPEATED = Lazy(r"\s*\[Previous line repeated \d+ more times?\]\s*$")
RULER = Lazy(r"\s*={10,}\s*$")
GROUP_TOP = Lazy(r" *\+ Exception Group " + re.escape(HEADER))
REMOTE_CALL = Lazy(r"\s*ray::[^\n]{1,400}$")
QUOTED = Lazy(
    r"\s*(?:Original "
    + re.escape(HEADER)
    + r"|-- Process \d+ terminated with the following (?:error|exception)"
    r"|" + re.escape(HEADER) + r": \((RANK) \d+\))"
)
EXCEPTION = Lazy(
    r"(?s)( *)((?:[A-Za-z_]\w*\.)*(?:<locals>\.)?[A-Za-z_]\w*(?:\([\w., ]{1,200}\))?)"
    r"(?:(:)(?: (.*)|\s*)|\s*)$"
)
_OF_EXCEPTIONS = Lazy(r".*(?:Error|Exception|Failed|Interrupt|Exit|Iteration|Warning|Timeout)\b")
_NO_EXCEPTIONS = frozenset(
    """
    Aborted Bus CRITICAL DEBUG ERROR FATAL INFO Killed NOTE Segmentation Terminated WARNING bash salloc
    sbatch slurmstepd srun wandb
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
_LINKS: tuple[tuple[str, Link], ...] = (
    ("During handling of the above exception", "context"),
    ("The above exception was the direct cause", "cause"),
)
LINKS = tuple(words for words, _ in _LINKS)
"""How Python begins the line between two tracebacks of a chain."""
_ENDS = Lazy(
    r"""(?x)
      Traceback\ \(most\ recent | (?:Unhandled\ e|E)xception\ (?:in\ thread|ignored\ in|<class)
    | Process\ \S+:$
    | (?:During\ handling|The\ above\ exception) | terminate\ called | Fatal\ Python\ error
    | (?:srun|slurmstepd|salloc|wandb|bash|make|mpirun|mpiexec|prterun):[ ]
    | (?:Killed|Aborted|Terminated|Segmentation\ fault|Bus\ error)\b | [\\'"]{3}
    | [*=#-]{20,} | [╭╰┌└│] | \{' | \+[ ] | \$[ ]
    | \[?\d{4}-\d\d-\d\d[\ T]\d\d:\d\d | [IWEF]\d{4}\ \d\d: | \[[EWIF]\d{0,4}[ ] | \[rank\d | \[default\d
    | \[\ *\d+\.\d{6}\] | \([A-Za-z_]\w*[^()]{0,80}\ pid=\d
    | (?:DEBUG|INFO|WARNING|ERROR|CRITICAL)[:\ ] | \[(?:DEBUG|INFO|WARNING|ERROR)[\]|]
    | \w+\ (?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\ \d{4}-\d\d-\d\d\ \d\d:
    | [\w.-]+:\d+:\d+\ \[-?\d+\] | NCCL\ version | /\S+\.py:\d+:\ \w*Warning:
    | \S{1,300}:\d+:\ .{1,500}?:\ block:\ ?\[\d+,  # what CUDA prints of an assertion, of whichever process
    | .{0,120}?\d{1,3}%\| | (?:[Ee]poch|[Ss]tep|[Ii]ter(?:ation)?)[\ :\[=]+\d
    """
)


def is_header(line: str) -> bool:
    """Whether a traceback begins on ``line``."""
    return (HEADER in line and _STACK.match(line, 0) is None) or REMOTE_CALL.match(line, 0) is not None


def indent_of(line: str) -> int:
    """Number of spaces that ``line`` begins with."""
    return len(line) - len(line.lstrip(" "))


def names_exception(line: str) -> bool:
    """Whether ``line`` begins with a name as exceptions have it, not with any word before a colon."""
    found = is_exception(line)
    return found is not None and (_OF_EXCEPTIONS.match(found[2], 0) is not None or "." in found[2])


def is_exception(line: str) -> re.Match[str] | None:
    """The match of :data:`EXCEPTION` when ``line`` names an exception, else None."""
    found = EXCEPTION.match(line, 0)
    if found is None:
        return None
    name = found[2]
    if name in _NO_EXCEPTIONS:
        return None
    if found[3] is None:
        # a lone word may be anything: insist on a capital, or on a dotted name
        last = name.rpartition(".")[2]
        return found if last[:1].isupper() or "." in name else None
    return found


def ends_message(line: str) -> bool:
    """Whether ``line`` clearly begins something else than the rest of an exception's message."""
    return _ENDS.match(line.lstrip(" "), 0) is not None


def next_filled(lines: Sequence[str], at: int, reach: int = 4) -> int | None:
    """Index of the next line that is neither blank nor a triple quote, at most ``reach`` lines on."""
    for i in range(at, min(len(lines), at + reach)):
        if lines[i].strip(" |") not in {"", '"""', "'''"}:
            return i
    return None


def link_at(lines: Sequence[str], at: int) -> tuple[Link, int] | None:
    """How the next exception follows from the one that ended before ``at``, and where its header is."""
    sentence = next_filled(lines, at)
    if sentence is None:
        return None
    text = lines[sentence].lstrip(" |")
    for words, link in _LINKS:
        if text.startswith(words):
            header = next_filled(lines, sentence + 1)
            return (link, header) if header is not None and is_header(lines[header]) else None
    return None
