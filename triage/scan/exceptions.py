"""Python tracebacks and faulthandler dumps as findings, whatever raised them.

Rules recognise known messages; this records every exception, so that an unknown one is never lost
and so that a rule that matched inside a traceback is known to have been raised, not just printed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import islice

from triage.model import Prefix, Value
from triage.scan.collect import Collector, Sighting
from triage.scan.lazy import compiled
from triage.scan.traceback import HEADER, Traceback, activity, fatal, parse_faulthandler, parse_traceback
from triage.scan.tracebacks.guarded import main_process
from triage.scan.tracebacks.lines import is_header
from triage.scan.tracebacks.model import Frame, FrameKind
from triage.scan.tracebacks.shown import is_shown
from triage.scan.tracebacks.work import REACH, without_work
from triage.scan.traced import CLOSE, led_lines, writer_lines
from triage.scan.whose import reported, said_above, writers_line_above
from triage.scan.window import BlockLines, Line

EXCEPTION_ANCHORS = (HEADER, "Fatal Python error:", "Windows fatal exception:")
EXCEPTION_RULE = "python.exception"
FATAL_RULE = "python.fatal-error"
IGNORED_RULE = "python.ignored-exception"
ABORT_RULE = "python.aborted"
_FRAME = re.compile(rb'(?m)^[^\n"]{0,120}\bFile "[^"\n]{1,4096}"?(?:, line \d|$)')
_OF_THE_LIVING = r"(?i)stack|most recent call|\bthread 0x|warn"
"""What stands above frames that no exception ends: they were printed to show where somebody is."""
EDGE = 64 << 10
"""Bytes at both ends of a block in which broken tracebacks are looked for."""
_RAISE = r"raise +((?:\w+\.)*[A-Z]\w*)\((?:[fr]?[\"'](.*))?"
"""The statement that raises, as the last frame shows it."""
_OWN_WORDS = r"raise +(?:\w+\.)*[A-Z]\w*\(\s*(?:[fr]?[\"'][^\"']*\w \S|$)|assert\b.*, *[fr]?[\"'][^\"']*\w \S"
"""A statement that raises with a message of several words (which may begin on its next line), not with a mere key."""
_COMPILED = r"(?<![\w.])([\w./+-]*\w\.(?:cc|cpp|cxx|cuh?|c|h|hpp|inl|rs)):\d+\b"
"""Where compiled code says that it raises."""
_OF_TORCH = r"(?:^|/)(?:pytorch|torch|aten|c10)/"
_MARKS = r"[ ~^]+$"
_CODE = r" {3,}(?!File \"|\[Previous line)\S"
_NAME = r"(?:Error|Exception|Failed|Interrupt|Exit|Iteration|OutOfResources|Unsupported|Warning|Timeout)\Z"
"""How the names of exceptions end."""
_RAY_CALL = r"ray::[^\n]{1,200}? \(pid=(\d{1,10})(?:, ip=([\w.:-]+))?"
_OF_NPU = r"\(PID:\d+, Device:\d+, RankID:(\d{1,6})\)"
"""What torch_npu appends to the message of its errors."""
_IGNORED = (
    r"(?:Exception ignored (?:in|while)\b|Error in atexit\._run_exitfuncs:|--- Logging error ---"
    r"|Exception while exporting (?:Span|Log|[Mm]etric)s?\b)"
)
"""What stands above a traceback of an exception that Python, or OpenTelemetry's thread, has caught itself, and that changes nothing."""
_SERVED = (
    r"Exception occurred during processing of request from|Exception on /\S* \[[A-Z]+\]|Exception in ASGI application"
    r"|Error handling request|Error in (?:preprocessing prompt inputs|applying chat template|extracting tool call)"
)
"""What servers print above the traceback of what the handler of one request raised."""
_TRACKERS = r"[/\\](?:wandb|mlflow|comet_ml|neptune|clearml|swanlab|tensorboard\w*|trackio)[/\\]"
"""Packages that keep records of runs, in threads and processes of their own."""
MAX_TRACEBACKS = 2000
"""Tracebacks of one source that are parsed."""


@dataclass(slots=True, eq=False, repr=False)
class ExceptionScan:
    """The tracebacks of one source, and which byte ranges they cover."""

    _begins: list[int] = field(default_factory=list)
    _ranges: list[tuple[int, Prefix, str]] = field(default_factory=list)
    """End of each traceback, the prefix of its first line and the stream of its others."""
    _parsed: int = 0

    def header(self, offset: int, prefix: Prefix) -> Prefix | None:
        """The prefix of the traceback that the line at ``offset`` is part of, None when of none.

        Loggers name the rank on the first line of a traceback only.
        """
        at = bisect_right(self._begins, offset) - 1
        # tracebacks of several ranks interleave: look at the few that may enclose the line
        for i in range(at, max(-1, at - 9), -1):
            end, head, stream = self._ranges[i]
            if offset <= end and prefix.stream in (stream, head.stream):
                return head
        return None

    def visit(self, view: BlockLines, line: Line, collector: Collector | None) -> None:
        """Parse the traceback that begins on ``line`` and record it.

        Without ``collector`` it is remembered only: somebody else's, whose end reaches into this stretch.
        """
        if self._parsed >= MAX_TRACEBACKS:
            return
        offset = view.block.offset + line.start
        if self._begins and offset <= self._begins[-1] and offset in self._begins:
            return
        self._parsed += 1
        if "\n" in line.message:
            self._enclosed(view, line, reported(view, line), collector)
            return
        prefix = reported(view, line)
        led = led_lines(view, line)
        if led and prefix.rank is None:
            prefix = led[0].prefix
        lines = led or writer_lines(view, line)
        messages = [part.message for part in lines]
        if fatal(line.message) is not None:
            if collector is not None:
                self._fatal(view, lines, messages, collector)
            return
        found = parse_traceback(messages, 0)
        if found is None:
            return
        above = view.block.data[max(0, line.start - REACH) : line.start]
        if not line.prefix.stream:
            found = without_work(found, [part.raw for part in lines[: found.end]], above)
        if _breaks_off(found, view, lines):
            found = replace(found, exception_type=None, message_line=None)
        last = lines[min(found.end, len(lines)) - 1]
        if prefix.rank is None:
            below = (following.raw for following in islice(view.after(last), CLOSE))
            stated = compiled(_OF_NPU).search("\n".join((last.raw, *below)))
            prefix = prefix if stated is None else prefix._replace(rank=int(stated[1]))
        self._remember(offset, view.block.offset + last.start, prefix, last.prefix.stream)
        if collector is None:
            return
        if _is_ignored(view, line):
            self._record_ignored(view, found, lines, collector)
        else:
            self._record(view, found, lines, 0, prefix, collector)

    def _record(
        self,
        view: BlockLines,
        found: Traceback,
        lines: list[Line],
        shift: int,
        prefix: Prefix,
        collector: Collector,
    ) -> None:
        """Add what was parsed; ``lines[0]`` stands at ``-shift`` of what the parser saw."""
        named = found.root.message_line if found.root.message_line is not None else found.end - 1
        raised = lines[max(0, min(named + shift, len(lines) - 1))]
        at = lines.index(raised)
        shown = at if found.root.message else _code_above(lines, at)
        last = lines[min(found.end + shift, len(lines)) - 1]
        collector.add(
            Sighting(
                rule_id=EXCEPTION_RULE,
                fields={
                    **exception_fields(found),
                    **_remote([*_quoted_below(view, lines[0]), *lines[: at + 1]]),
                    **({"_served": True} if _served(view, lines[0]) else {}),
                    **(
                        {"_caught": True}
                        if _caught(found, lines) or said_above(view, found, lines[0])
                        else {}
                    ),
                    **_called(view, found, lines),
                    "_begin": view.block.offset + lines[0].start,
                    "_end": view.block.offset + last.start,
                },
                prefix=prefix,
                offset=view.block.offset + raised.start,
                line=view.number(lines[shown].start),
                text="\n".join(part.raw for part in lines[shown : found.end + shift][:12]),
                span=None,
                raised=True,
            )
        )

    def _record_ignored(
        self, view: BlockLines, found: Traceback, lines: list[Line], collector: Collector
    ) -> None:
        """Note a traceback that nothing follows from, all of its lines."""
        first, last = lines[0], lines[min(found.end, len(lines)) - 1]
        collector.add(
            Sighting(
                rule_id=IGNORED_RULE,
                fields={
                    **exception_fields(found),
                    "_begin": view.block.offset + first.start, "_end": view.block.offset + last.start,
                },
                prefix=first.prefix,
                offset=view.block.offset + first.start,
                line=view.number(first.start),
                text="\n".join(part.raw for part in lines[: found.end]),
                span=None,
            )
        )  # fmt: skip

    def _enclosed(self, view: BlockLines, line: Line, prefix: Prefix, collector: Collector | None) -> None:
        """Record a traceback that stands in one line: structured loggers write a record's line breaks as ``\\n``."""
        messages = line.message.split("\n")
        start = next((at for at, text in enumerate(messages) if is_header(text)), None)
        found = None if start is None else parse_traceback(messages, start)
        if found is None:
            return
        offset = view.block.offset + line.start
        self._remember(offset, offset, prefix, line.prefix.stream)
        if collector is not None:
            collector.add(
                Sighting(
                    rule_id=EXCEPTION_RULE,
                    fields={**exception_fields(found), "_begin": offset, "_end": offset},
                    prefix=prefix, offset=offset, line=view.number(line.start), text=line.raw, span=None, raised=True,
                )
            )  # fmt: skip

    def headless(self, view: BlockLines, collector: Collector) -> None:
        """Record tracebacks whose first lines are not there: what was kept of a log may begin within one.

        To be called after all others of the block are known.
        """
        data = view.block.data
        for begin, end in ((0, min(len(data), EDGE)), (max(EDGE, len(data) - EDGE), len(data))):
            if data.find(b'File "', begin, end) < 0:
                continue
            found = _FRAME.search(data, begin, end)
            if found is None:
                continue
            line = view.line_at(found.start())
            offset = view.block.offset + line.start
            if self.header(offset, line.prefix) is None and not _stack_of_living(view, line):
                self._broken_in(view, line, collector)

    def _broken_in(self, view: BlockLines, line: Line, collector: Collector) -> None:
        lines = writer_lines(view, line)
        found = parse_traceback([HEADER + ":", *(part.message for part in lines)], 0)
        if found is None or not found.frames or found.message_line is None:
            return
        if compiled(_NAME).search(found.root.exception_type or "") is None:
            return
        offset = view.block.offset + line.start
        last = lines[min(found.end - 1, len(lines)) - 1]
        self._remember(offset, view.block.offset + last.start, line.prefix, last.prefix.stream)
        self._record(view, found, lines, -1, line.prefix, collector)

    def _fatal(self, view: BlockLines, lines: list[Line], messages: list[str], collector: Collector) -> None:
        dump = parse_faulthandler(messages, 0)
        line = lines[0]
        fields: dict[str, Value] = {"error": fatal(line.message) or None}
        if dump is not None:
            frame = next((f for f in dump.frames if f.kind == "user"), None)
            if frame is not None:
                fields.update(file=frame.path, line=frame.line, function=frame.function)
        collector.add(
            Sighting(
                rule_id=ABORT_RULE if fields["error"] == "Aborted" else FATAL_RULE,
                fields=fields,
                prefix=line.prefix,
                offset=view.block.offset + line.start,
                line=view.number(line.start),
                text="\n".join(part.raw for part in lines[:8]),
                span=None,
            )
        )

    def _remember(self, begin: int, end: int, head: Prefix, stream: str) -> None:
        at = bisect_right(self._begins, begin)
        self._begins.insert(at, begin)
        self._ranges.insert(at, (end, head, stream))


def _called(view: BlockLines, found: Traceback, lines: list[Line]) -> dict[str, Value]:
    """Where the log shows the line of the program's own that made the call, and that line."""
    user = found.root.user_frame or found.user_frame
    if user is None or not user.code:
        return {}
    place = f'File "{user.path}", line {user.line}'
    at = next(
        (i for i, part in enumerate(lines[: found.end]) if part.message.lstrip().startswith(place)), None
    )
    if at is None or at + 1 >= len(lines) or user.code not in lines[at + 1].message:
        return {}
    return {"_call_line": view.number(lines[at + 1].start), "_call": lines[at + 1].raw}


def _code_above(lines: list[Line], at: int) -> int:
    """The line of code that raised what ``lines[at]`` names without a word, where it is shown; else ``at``."""
    code = at - 1
    while code > 0 and compiled(_MARKS).match(lines[code].message) is not None:
        code -= 1
    return code if code > 0 and compiled(_CODE).match(lines[code].message) is not None else at


def _is_ignored(view: BlockLines, line: Line) -> bool:
    """Whether Python says of the traceback on ``line`` that it goes on without it, or it is part of a text that is shown."""
    above = writers_line_above(view, line)
    if above is not None and compiled(_IGNORED).match(above.message) is not None:
        return True
    return is_shown(line.raw, None if above is None else above.raw, view.block.data)


def _served(view: BlockLines, line: Line) -> bool:
    """Whether a server says that the traceback on ``line`` is of one request."""
    above = next(iter(view.preceding(line)), None)
    return above is not None and compiled(_SERVED).search(above.message) is not None


def _caught(found: Traceback, lines: list[Line]) -> bool:
    """Whether a traceback shows that the program itself caught its exception and printed it.

    What nobody catches goes through the whole stack, which begins with a module or with what starts threads, processes
    and tasks; what is caught is shown from the function on that catches it.
    """
    if not found.frames or not any(is_header(part.message.strip()) for part in lines[: found.end]):
        return False  # its beginning is not there
    outermost = found.frames[0]
    return outermost.kind == "user" and outermost.function not in {"<module>", "<lambda>"}


def _quoted_below(view: BlockLines, line: Line) -> list[Line]:
    """The line below which Ray quotes a stack that begins on ``line`` without a header: the same process wrote it."""
    if HEADER in line.message:
        return []
    return [above for above in islice(view.preceding(line), 1) if above.prefix.stream == line.prefix.stream]


def _remote(lines: list[Line]) -> dict[str, Value]:
    """The process that Ray says raised it: the last of the calls that it passed through on its way."""
    for line in reversed(lines):
        found = compiled(_RAY_CALL).search(line.message) if "ray::" in line.message else None
        if found is not None:
            told: dict[str, Value] = {"_called_pid": int(found[1]), "_called_host": found[2]}
            own = compiled(_RAY_REPR).search(line.message)
            return told if own is None else {**told, "_called_number": int(own[1])}
    return {}


_RAY_REPR = r", repr=[A-Za-z_]\w*(?:[(\[](?:\w{1,20}=)?|[-_#:]|(?<=[a-z]))(\d{1,4})(?=[],)])"
"""How an actor calls itself that a program has numbered: ``repr=Member(2)``, ``repr=Member[rank=2]``, ``repr=worker-2``."""


def exception_fields(found: Traceback) -> dict[str, Value]:
    """The fields of rule ``python.exception``: the original exception and where it came from."""
    root = found.root
    raising = root.raising_frame
    user = root.user_frame or found.user_frame
    name, message = root.exception_type, root.message
    if name is None and raising is not None:
        name, message = _about_to_raise(raising.code or "")
    return {
        "type": name,
        "message": message[:500],
        "outer_type": found.exception_type if found is not root else None,
        "outer_message": found.message[:300] if found is not root else None,
        "raised_in": raising.path if raising else None,
        "raised_kind": _raised_by(raising, message) if raising else None,
        "raised_function": raising.function if raising else None,
        "doing": activity(root.frames) or (activity(found.frames) if found is not root else None),
        "_depth": root.depth,
        "_main_process": main_process(root.frames) or main_process(found.frames),
        "_of_tracker": user is None and any(compiled(_TRACKERS).search(f.path) for f in root.frames),
        "_asserted": raising.code if raising and name == "AssertionError" and not message else None,
        "_in_words": raising is not None and compiled(_OWN_WORDS).match(raising.code or "") is not None,
        "_thread": bool(root.frames) and root.frames[0].path.endswith("/threading.py"),
        "_process": bool(root.frames) and root.frames[0].path.endswith("/multiprocessing/process.py"),
        "_main": bool(found.frames) and found.frames[0].function == "<module>",
        "file": user.path if user else None,
        "line": user.line if user else None,
        "function": user.function if user else None,
        "code": (user.code or None) if user else None,
    }


def _raised_by(raising: Frame, message: str) -> FrameKind:
    """Whose code raises: compiled code has no frames of its own, but may name its file and line."""
    place = compiled(_COMPILED).search(message) if raising.kind == "user" else None
    if place is None or (raising.code or "").startswith("raise "):
        return raising.kind
    return "library" if compiled(_OF_TORCH).search(place[1]) is None else "torch"


def _stack_of_living(view: BlockLines, line: Line) -> bool:
    """Whether the frames from ``line`` on show a stack for some other reason than an exception."""
    above = next(iter(view.preceding(line)), None)
    return above is not None and compiled(_OF_THE_LIVING).search(above.message) is not None


def _about_to_raise(code: str) -> tuple[str | None, str]:
    """Name and beginning of the message of the exception that a source line raises."""
    found = compiled(_RAISE).match(code)
    return (None, "") if found is None else (found[1], (found[2] or "").rstrip("\"')"))


def _breaks_off(found: Traceback, view: BlockLines, lines: list[Line]) -> bool:
    """Whether the source ends within the line that would name the exception."""
    block, last = view.block, lines[min(found.end, len(lines)) - 1]
    ends = block.last and last.end >= len(block.data)
    return ends and not found.message and compiled(_NAME).search(found.exception_type or "") is None
