"""Tracebacks as the interpreter prints them, exception groups included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from triage.scan.lazy import Lazy, compiled
from triage.scan.tracebacks.frames import make_frame
from triage.scan.tracebacks.lines import (
    CUT_FRAME,
    FRAME,
    GROUP_TOP,
    HEADER,
    MARKERS,
    QUOTED,
    REMOTE_CALL,
    REPEATED,
    RULER,
    ends_message,
    indent_of,
    is_exception,
    link_at,
    names_exception,
    next_filled,
)
from triage.scan.tracebacks.model import Frame, Link, Traceback

MAX_MESSAGE_LINES = 60
MAX_BOX_LINES = 2000
"""Lines of a box that torchrun's agent draws around its failed workers."""
MAX_DEPTH = 8
"""Tracebacks quoted within tracebacks that are followed."""
MAX_CODE_LINES = 60
MAX_ROWS = 3
"""Rows of a console that one frame may take."""
_HELD_BACK = 60
"""Lines of standard output that may stand between a header and the first frame."""
_FOREIGN = 3
"""Lines of somebody else that may stand between two frames."""

_KEY = r"(['\"])(?:(?!\1).)*\1\s*$"
_DEPENDENCY = Lazy(r"\s*At least one of the input arguments for this task could not be computed:\s*$")


@dataclass(slots=True, eq=False, repr=False)
class _Message:
    """The rest of an exception's message, what it quotes, and the index after it."""

    text: str
    end: int
    quoted: tuple[Traceback, ...] = ()


def read_plain(lines: Sequence[str], start: int, depth: int = 0) -> Traceback:
    """The traceback whose header is ``lines[start]``, with what its message quotes, without sequels.

    The header may follow other text on its line, and everything may be indented alike.
    """
    frames, at, base = _frames(lines, _below_strangers(lines, start))
    if base is None:
        base = indent_of(lines[start]) if lines[start].lstrip().startswith(HEADER) else 0
    return read_exception(lines, start, at, base, frames, depth)


def read_exception(
    lines: Sequence[str], start: int, at: int, base: int, frames: tuple[Frame, ...], depth: int
) -> Traceback:
    """The exception named on ``lines[at]``, indented by ``base``, raised at the end of ``frames``."""
    named = is_exception(lines[at]) if at < len(lines) else None
    if named is None or len(named[1]) > base:
        return Traceback(frames, None, "", start, at)
    if named[3] is None:
        return Traceback(frames, named[2], "", start, at + 1, at)
    if named[2] == "KeyError" and compiled(_KEY).match(named[4] or ""):
        return Traceback(frames, named[2], named[4] or "", start, at + 1, at)  # Python quotes a key whole
    message = _message(lines, at, base, named[4] or "", depth)
    return Traceback(
        frames,
        named[2],
        message.text,
        start,
        message.end,
        at,
        chain=flatten(message.quoted),
        link="quoted" if message.quoted else "",
    )


def flatten(exceptions: Sequence[Traceback]) -> tuple[Traceback, ...]:
    """Exceptions with their chains, one after the other, none of them chained any more."""
    return tuple(part for e in exceptions for part in (*e.chain, replace(e, chain=())))


def _frames(lines: Sequence[str], at: int) -> tuple[tuple[Frame, ...], int, int | None]:
    """The frames from ``lines[at]`` on, the index after them, and how far the exception is indented."""
    frames: list[Frame] = []
    base: int | None = None
    first = next_filled(lines, at)
    spaced = first is not None and first > at and FRAME.match(lines[first], 0) is not None
    if first is not None and spaced:  # somebody put an empty line between all parts
        at = first
    while at < len(lines):
        found, rows = _frame(lines, at)
        if found is not None:
            indent = len(found[1])
            base = max(0, indent - 2) if base is None else base
            flat = not indent and at + rows < len(lines) and not indent_of(lines[at + rows])
            code, at = _flat_code(lines, at + rows) if flat else _code(lines, at + rows, indent)
            frames.append(make_frame(found[2], int(found[3]), (found[4] or "").strip(), code))
        elif base is None or not _goes_on(lines, at, base):
            break
        else:
            at += 1
    if spaced:
        at = next_filled(lines, at) or at
    return tuple(frames), at, base


def _below_strangers(lines: Sequence[str], start: int) -> int:
    """The index after the header on ``lines[start]``, or of the first frame below what was printed in between.

    Standard output that was held back comes out at the end of the process, above the first frame.
    """
    below = start + 1
    top = indent_of(lines[start]) + 2
    if not lines[start].lstrip().startswith(HEADER):
        return below
    for at in range(below, min(len(lines), below + _HELD_BACK)):
        line = lines[at]
        if FRAME.match(line, 0):
            return at if indent_of(line) == top else below
        if HEADER in line or not line.strip() or names_exception(line) or REMOTE_CALL.match(line, 0):
            break
    return below


def _frame(lines: Sequence[str], at: int) -> tuple[re.Match[str] | None, int]:
    """The frame on ``lines[at]``, and how many lines it takes: a console breaks the long ones."""
    text = lines[at]
    found = FRAME.match(text, 0)
    if found is not None or CUT_FRAME.match(text, 0) is None:
        return found, 1
    for rows in range(2, MAX_ROWS + 1):
        if at + rows > len(lines):
            break
        broken_at_a_space = text.endswith((",", " in", " line"))
        text += " " * broken_at_a_space + lines[at + rows - 1].strip(" ")
        found = FRAME.match(text, 0)
        if found is not None:
            return found, rows
    return None, 1


def _code(lines: Sequence[str], at: int, indent: int) -> tuple[str | None, int]:
    """The source line under a frame indented by ``indent``, and the index after all of it."""
    code: str | None = None
    end = min(len(lines), at + MAX_CODE_LINES)
    while at < end:
        line = lines[at]
        if not line.strip() and _last_of_code(lines, at, indent):
            return code, at + 1
        if not line.strip() or indent_of(line) <= indent or FRAME.match(line, 0):
            break
        if code is None and MARKERS.match(line, 0) is None:
            code = line.strip()
        at += 1
    return code, at


def _flat_code(lines: Sequence[str], at: int) -> tuple[str | None, int]:
    """The source line under a frame where somebody took all indentation away, and the index after it.

    Only what stands below it tells it from the exception: another frame, or the exception's name.
    """
    if FRAME.match(lines[at], 0) is not None:
        return None, at
    end = at + 1
    while end < len(lines) and MARKERS.match(lines[end], 0) is not None:
        end += 1
    below = lines[end] if end < len(lines) else ""
    named = is_exception(below)
    if FRAME.match(below, 0) is None and (named is None or named[3] is None):
        return None, at
    return lines[at].strip(), end


def _last_of_code(lines: Sequence[str], at: int, indent: int) -> bool:
    """Whether an indented blank line ends the source under a frame, right above the exception.

    tvm-ffi, which FlashInfer and TileLang are built on, adds frames of C++ whose source ends like that.
    """
    below = lines[at + 1] if at + 1 < len(lines) else ""
    return len(lines[at]) > indent and indent_of(below) < indent and is_exception(below) is not None


def _goes_on(lines: Sequence[str], at: int, base: int) -> bool:
    """Whether the stack goes on after ``lines[at]``, which is no frame and no source line."""
    line = lines[at]
    if REPEATED.match(line, 0):
        return True
    if line.strip() and indent_of(line) > base:
        return True
    if REMOTE_CALL.match(line, 0) or ": ray::" in line:
        return False
    for following in lines[at + 1 : at + 1 + _FOREIGN]:
        if HEADER in following:
            return False
        frame = FRAME.match(following, 0)
        if frame is not None:
            return len(frame[1]) == base + 2
    return False


def _message(lines: Sequence[str], at: int, base: int, first: str, depth: int) -> _Message:
    if not first and at + 1 < len(lines) and RULER.match(lines[at + 1], 0):
        return _box(lines, at + 1)
    if depth < MAX_DEPTH:
        if HEADER in first:
            quoted = read_plain(lines, at, depth + 1)
            return _Message(first.partition(HEADER)[0].rstrip(": "), quoted.end, (quoted,))
        if REMOTE_CALL.match(first, 0):
            return _remote(lines, at, base, first, depth)
    text = [first]
    quoted_tracebacks: list[Traceback] = []
    i = at + 1
    while i < len(lines) and i - at < MAX_MESSAGE_LINES:
        line = lines[i]
        quote = _quote_at(lines, i, depth)
        if quote is not None:
            part = read_chain(lines, quote, depth + 1)
            link: Link = "sibling" if quoted_tracebacks else part.link
            quoted_tracebacks.append(replace(part, link=link))
            i = part.end
            continue
        if quoted_tracebacks or not line.strip() or indent_of(line) < base or ends_message(line):
            break
        text.append(line[base:])
        i += 1
    return _Message("\n".join(text).strip("\n"), i, tuple(quoted_tracebacks))


def _quote_at(lines: Sequence[str], at: int, depth: int) -> int | None:
    """Index of the header of a traceback that the message quotes from ``lines[at]`` on."""
    filled = next_filled(lines, at, 3)
    found = QUOTED.match(lines[filled], 0) if filled is not None and depth < MAX_DEPTH else None
    if filled is None or found is None:
        return None
    if found[1] is not None and depth > 0:
        # the next rank's, beside this one: distributed checkpoints quote every rank's in turn
        return None
    if HEADER in lines[filled]:
        return filled
    header = next_filled(lines, filled + 1)
    return header if header is not None and HEADER in lines[header] else None


def _box(lines: Sequence[str], ruler: int) -> _Message:
    """The message of torchrun's ``ChildFailedError``: everything down to the second ruler."""
    for i in range(ruler + 1, min(len(lines), ruler + MAX_BOX_LINES)):
        if RULER.match(lines[i], 0):
            end = i + 1
            break
        if lines[i].startswith(HEADER):
            end = i
            break
    else:
        end = min(len(lines), ruler + MAX_BOX_LINES)
    return _Message("\n".join(lines[ruler : min(end, ruler + MAX_MESSAGE_LINES)]), end)


def _remote(lines: Sequence[str], at: int, base: int, first: str, depth: int) -> _Message:
    """Ray's quotation of a task's exception: frames and exception follow without a header."""
    i = at + 1
    if i < len(lines) and _DEPENDENCY.match(lines[i], 0):
        i += 1
    while i < len(lines) and lines[i].strip() and MARKERS.match(lines[i], 0):
        i += 1  # Ray leaves the marks under its own frames, which it takes out
    frames, i, inner_base = _frames(lines, i)
    inner_base = base if inner_base is None else inner_base
    if not frames and (i >= len(lines) or ": ray::" not in lines[i]):
        return _Message(first, at + 1)
    quoted = read_exception(lines, at, i, inner_base, frames, depth + 1)
    return _Message(first, quoted.end, (quoted,))


def read_chain(lines: Sequence[str], start: int, depth: int = 0) -> Traceback:
    """The traceback at ``lines[start]`` and those that follow from it: the last, chained to the others."""
    last = _read(lines, start, depth)
    for _ in range(100):
        sequel = link_at(lines, last.end)
        if sequel is None:
            break
        link, header = sequel
        following = _read(lines, header, depth)
        if following.end <= last.end:
            break
        chain = flatten((last, *following.chain))
        last = replace(following, start=start, chain=chain, link=link)
    return last


def _read(lines: Sequence[str], start: int, depth: int) -> Traceback:
    """The one traceback at ``lines[start]``, in whichever layout."""
    from triage.scan.tracebacks.notebook import is_notebook, read_notebook
    from triage.scan.tracebacks.rich import is_rich, read_rich

    line = lines[start]
    if is_rich(line):
        return read_rich(lines, start)
    if is_notebook(line):
        return read_notebook(lines, start)
    if GROUP_TOP.match(line, 0):
        return _group(lines, start, depth)
    if HEADER not in line and REMOTE_CALL.match(line, 0):
        quoted = _remote(lines, start, 0, line.strip(), depth).quoted
        return quoted[0] if quoted else Traceback((), None, "", start, start + 1)
    return read_plain(lines, start, depth)


def _group(lines: Sequence[str], start: int, depth: int) -> Traceback:
    """An exception group: a stack behind a margin, then its members, each behind a further one."""
    margin = lines[start].index("+")
    own, at = _behind_margin(lines, start + 1, margin)
    group = _shift(read_plain([HEADER + ":", *own], 0, depth), start)
    members, at = _members(lines, at, margin, depth)
    return replace(group, end=max(at, group.end), members=members)


def _members(lines: Sequence[str], at: int, margin: int, depth: int) -> tuple[tuple[Traceback, ...], int]:
    """The members of a group whose margin is at column ``margin``, and the index after them."""
    members: list[Traceback] = []
    if depth >= MAX_DEPTH or not _rules_off(lines, at, margin, "+-+-"):
        return (), at
    inner = margin + 2
    while True:
        at += 1
        body, end = _behind_margin(lines, at, inner)
        member = _shift(_member(body, depth), at)
        held, at = _members(lines, end, inner, depth + 1)
        # a chain that goes on after a nested group is passed over
        _, at = _behind_margin(lines, at, inner)
        members.append(replace(member, end=at, members=held))
        if not _rules_off(lines, at, inner, "+--"):
            return tuple(members), at
        if lines[at].strip(" +-") == "":
            return tuple(members), at + 1


def _rules_off(lines: Sequence[str], at: int, margin: int, rule: str) -> bool:
    """Whether ``lines[at]`` is a rule that begins at column ``margin``."""
    return at < len(lines) and lines[at].startswith(rule, margin) and not lines[at][:margin].strip()


def _member(body: Sequence[str], depth: int) -> Traceback:
    """One member of a group without its own members: a chain of tracebacks, or an exception alone."""
    if body and HEADER in body[0]:
        return read_chain(body, 0, depth + 1)
    return read_exception(body, 0, 0, 0, (), depth + 1)


def _behind_margin(lines: Sequence[str], at: int, margin: int) -> tuple[list[str], int]:
    """The lines from ``at`` on that stand behind ``|`` at column ``margin``, without it."""
    body: list[str] = []
    while at < len(lines):
        line = lines[at]
        if line[:margin].strip() or line[margin : margin + 1] != "|":
            break
        body.append(line[margin + 2 :])
        at += 1
    return body, at


def _shift(found: Traceback, by: int) -> Traceback:
    """``found`` with its line numbers moved by ``by``."""
    return replace(
        found,
        start=found.start + by,
        end=found.end + by,
        message_line=None if found.message_line is None else found.message_line + by,
        chain=tuple(_shift(e, by) for e in found.chain),
        members=tuple(_shift(e, by) for e in found.members),
    )
