"""The lines of one writer that a traceback is read from, whoever else writes in between."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from triage.scan.prefix import Continuation
from triage.scan.traceback import HEADER
from triage.scan.tracebacks.lines import FRAME, is_exception
from triage.scan.window import BlockLines, Line

CLOSE = 3
"""Lines above a traceback in which that may stand."""


MAX_LINES = 400


LONGEST_LEAD = 80
"""Characters that may stand before a traceback on each of its lines."""


_REST_OF_FRAME = 2
"""Lines of a frame below its first: the code, and marks under what of it was being done."""


MAX_STRANGERS = 60
"""Lines of other writers between a traceback's first two."""


def led_lines(view: BlockLines, line: Line) -> list[Line]:
    """A traceback and what follows it, each line behind the same words: a launcher's that no prefix is known of.

    Whoever puts words before every line names the writer by them: they are taken for its stream.
    """
    lead = line.message.partition(HEADER)[0]
    if not lead.strip() or len(lead) > LONGEST_LEAD:
        return []
    name = lead.strip(" :|>]-")
    stream = f"{line.prefix.stream}/{name}".lstrip("/")
    lines: list[Line] = []
    for seen, following in enumerate([line, *islice(view.after(line), MAX_LINES * 4)]):
        if not following.message.startswith(lead):
            if len(lines) < 2 and seen > MAX_STRANGERS:
                return []
            continue
        rest = following.message[len(lead) :]
        if len(lines) == 1 and not rest.startswith(" "):
            return []
        lines.append(replace(following, message=rest, prefix=following.prefix._replace(stream=stream)))
        if len(lines) >= MAX_LINES:
            break
    return lines if len(lines) > 1 else []


def writer_lines(view: BlockLines, line: Line) -> list[Line]:
    """``line`` and what its writer wrote after it, up to the next record."""
    lines = [line]
    continuation = Continuation(line.prefix)
    skipped = 0
    for following in view.after(line):
        belongs = continuation.takes(following.prefix)
        if (
            belongs is None
            and len(lines) == 1
            and _same_voice(line, following)
            and FRAME.match(following.message, 0)
        ):
            return _record_by_record(view, line)
        if len(lines) >= MAX_LINES or (belongs is None and not _resumes(view, lines[-1], following)):
            break
        if belongs:
            lines.append(following)
            continue
        skipped += 1
        if skipped > MAX_LINES * 8:
            break
    return lines


def _record_by_record(view: BlockLines, line: Line) -> list[Line]:
    """A traceback of which somebody logged each line as a record of its own, down to the exception's name."""
    lines = [line]
    for following in islice(view.after(line), MAX_LINES):
        if not _same_voice(line, following):
            break
        lines.append(following)
        named = is_exception(following.message)
        if named is not None and named[3] is not None:
            break
    return lines


def _same_voice(one: Line, other: Line) -> bool:
    """Whether two records are of one writer, logger and level."""
    a, b = one.prefix, other.prefix
    return b.stamped and (a.stream, a.logger, a.level) == (b.stream, b.logger, b.level)


def _resumes(view: BlockLines, last: Line, record: Line) -> bool:
    """Whether a record stands in the middle of a traceback: another process wrote there, and the frames go on below.

    What is left of the frame above, its line of code or the marks under that, may stand before them.
    """
    if not last.message.startswith((HEADER, "  ")) or HEADER in record.message:
        return False  # frames below another traceback's header are that one's
    rest = 0
    for following in islice(view.after(record), CLOSE + _REST_OF_FRAME):
        text = following.message
        if following.prefix.stamped:
            if HEADER in text:
                return False
        elif (
            following.prefix.stream == last.prefix.stream
            and text.startswith("    ")
            and rest < _REST_OF_FRAME
        ):
            rest += 1
        else:
            return following.prefix.stream == last.prefix.stream and text.startswith('  File "')
    return False
