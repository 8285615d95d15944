"""Stacks that ``faulthandler`` printed of processes that live on: where each of them was at that moment.

``faulthandler.dump_traceback_later`` prints them after a time without progress, ``faulthandler.register`` on a
signal. The stack of a rank that others wait for tells more than all that it printed before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from triage.model import Block, Evidence, Finding, Source, Value
from triage.scan.lazy import compiled
from triage.scan.ordinary.said import Said, any_line, finding_of
from triage.scan.tracebacks.doing import activity
from triage.scan.tracebacks.frames import make_frame
from triage.scan.tracebacks.model import Frame
from triage.text import safe

FACT = "python.stack"
_HEADERS = (b"Thread 0x", b"Current thread 0x", b"Stack (most recent call first):")
_THREAD = r"\s*(?:(?:Current thread|Thread) 0x[\da-fA-F]+ (?:\[[^\]\n]{0,80}\] )?|Stack )\(most recent call first\):\s*$"
_FRAME = r"\s+File \"([^\"\n]{1,1000})\", line (\d{1,7}) in (\S{1,200})"
_FATAL = "Fatal Python error"
MAX_FRAMES = 120
MAX_SHOWN = 12
"""Frames that are shown, up to the user's own."""
BEFORE = 2048
"""Bytes before the first stack in which the interpreter says that it died."""


@dataclass(slots=True, eq=False, repr=False)
class _Thread:
    """The stack of one thread, innermost call first, and the lines that it is read from."""

    header: Said
    frames: list[tuple[Frame, Said]] = field(default_factory=list)

    @property
    def main(self) -> bool:
        """Whether the program itself runs in it."""
        return bool(self.frames) and self.frames[-1][0].function == "<module>"


def stacks(tails: Mapping[int, Block], sources: Sequence[Source]) -> list[Finding]:
    """For each writer the last stack of its main thread that shows where the user's own code was."""
    last: dict[tuple[int, str], Finding] = {}
    for index, block in sorted(tails.items()):
        if any(header in block.data for header in _HEADERS):
            for thread in _threads(block, sources[index], index):
                found = _fact(thread, sources) if thread.main else None
                if found is not None:
                    last[index, thread.header.prefix.stream] = found
    return list(last.values())


def _threads(block: Block, source: Source, index: int) -> Iterator[_Thread]:
    """The stacks of the living, each writer's lines taken together; those of an interpreter that died are known."""
    open_now: dict[str, _Thread] = {}
    died: set[str] = set()
    first = min(at for header in _HEADERS if (at := block.data.find(header)) >= 0)
    began = max(block.data.rfind(b"\n", 0, max(0, first - BEFORE)), 0)
    for line in any_line(block, source, index, began):
        stream = line.prefix.stream
        if _FATAL in line.message:
            died.add(stream)
        elif compiled(_THREAD).match(line.message):
            if (whole := open_now.pop(stream, None)) is not None:
                yield whole
            if stream not in died:
                open_now[stream] = _Thread(line)
        elif (thread := open_now.get(stream)) is not None:
            found = compiled(_FRAME).match(line.message)
            if found is not None and len(thread.frames) < MAX_FRAMES:
                thread.frames.append((make_frame(found[1], int(found[2]), found[3]), line))
            else:
                yield open_now.pop(stream)
    yield from open_now.values()


def _fact(thread: _Thread, sources: Sequence[Source]) -> Finding | None:
    own = next(((frame, line) for frame, line in thread.frames if frame.kind == "user"), None)
    if own is None:
        return None
    frame, line = own
    top, _ = thread.frames[0]
    doing = activity([f for f, _ in reversed(thread.frames)])
    fields: dict[str, Value] = {
        "function": frame.function, "file": frame.path, "line": frame.line, "activity": doing or "other",
        "top": f"{top.function} ({top.path.rpartition('/')[2]}:{top.line})",
    }  # fmt: skip
    found = finding_of(FACT, line, sources, fields)
    path = [said for _, said in thread.frames[: thread.frames.index(own) + 1]][-MAX_SHOWN:]
    shown = Evidence(sources[line.source].name, path[0].number, safe("\n".join(said.text for said in path)))
    return replace(found, evidence=(shown,))
