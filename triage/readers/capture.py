"""What all readers of captured command output share: clean lines with positions, and findings.

Captured output arrives with colour codes, carriage returns, shell prompts and neighbours. ``lines_of``
takes the codes off and keeps line numbers and byte offsets; ``Findings`` turns lines into evidence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triage.model import Finding, Reading, Source, Value
from triage.readers.base import finding

MAX_LINES = 100_000
"""Lines of one capture that are looked at; the outputs read here have a few thousand."""
MAX_LINE = 16_384
"""Characters of one line that are looked at."""
MAX_FINDINGS = 2_000
"""Findings that one capture may give."""

_CODES = re.compile(
    r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|\x1b[()][A-Za-z0-9]|\x1b"
)
_BARE_CODES = re.compile(r"\[(?:\d{1,3}(?:;\d{1,3}){0,4})?m")
"""Colour codes whose escape character was lost in copying: ``[4mGPU0``."""
_PROMPT = re.compile(
    r"(?:\([\w.-]+\)\s*)?\[?[\w.-]+@(?P<host>[\w.-]+)[^\s$#]{0,200}(?:\s[^\s$#]{1,200})?\s?[$#]\s(?P<command>.*)"
)
_BARE_PROMPT = re.compile(r"\s{0,2}[$#+>]{1,2}\s+(?:sudo\s+)?(?P<command>[A-Za-z./][^|:]{0,300}.*)$")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number (from 1), the byte offset where it starts, its text without codes."""

    number: int
    offset: int
    text: str


def clean(text: str) -> str:
    """``text`` without colour codes, carriage returns and NUL characters."""
    if "\x1b" in text:
        text = _CODES.sub("", text)
    if "m" in text and "[" in text:
        text = _BARE_CODES.sub("", text)
    if "\r" in text:
        # a progress bar overwrites its line: what was printed last is what a person saw
        parts = [part for part in text.split("\r") if part.strip()]
        text = parts[-1] if parts else ""
    return text.replace("\x00", "")


def lines_of(data: bytes | str, line: int = 1, offset: int = 0) -> list[Line]:
    """The lines of ``data``, at most ``MAX_LINES``; the first has number ``line``."""
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    lines: list[Line] = []
    begin = 0
    while begin < len(data) and len(lines) < MAX_LINES:
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        text = data[begin : min(end, begin + MAX_LINE)].decode("utf-8", "replace")
        lines.append(Line(line + len(lines), offset + begin, clean(text)))
        begin = end + 1
    return lines


def parsed_json(data: bytes, limit: int) -> tuple[Any, str | None]:
    """The document in ``data``, and what is wrong with it (None when nothing is); ``limit`` is in bytes."""
    if len(data) > limit:
        return None, f"more than {limit} bytes of JSON; not read"
    try:
        return json.loads(data), None
    except (ValueError, RecursionError) as error:
        return None, f"the JSON can't be parsed: {error}"


def command_of(text: str) -> str | None:
    """The command of a line that shows a shell prompt (``$ nvidia-smi``), else None."""
    match = _PROMPT.match(text) or _BARE_PROMPT.match(text)
    return match["command"].strip() if match else None


def prompt_host(lines: Iterable[Line]) -> str | None:
    """The host that a shell prompt names: ``root@gpu-17:~# …``."""
    for line in lines:
        match = _PROMPT.match(line.text)
        if match:
            return match["host"]
    return None


def mostly(
    head: bytes,
    begins: Callable[[str], bool],
    belongs: Callable[[str], bool],
    top: int = 12,
    share: float = 0.6,
) -> bool:
    """Is ``head`` output of one kind: it begins near the top, and most lines belong to it?

    Args:
        head: the first bytes of a source; its last line may be cut.
        begins: does a line start such output? Asked of the first ``top`` lines that aren't empty.
        belongs: can a line be part of such output? Prompts and empty lines always can.
        share: part of the lines that must belong.
    """
    lines = [line.text for line in lines_of(head[:65536]) if line.text.strip()]
    if not lines or not any(begins(text) for text in lines[:top]):
        return False
    own = sum(1 for text in lines if belongs(text) or command_of(text) is not None)
    return own >= share * len(lines)


@dataclass(slots=True)
class Findings:
    """Collects what a reader finds in one source."""

    source: Source
    index: int
    kind: str
    host: str | None = None
    items: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True

    def add(
        self,
        rule_id: str,
        lines: Sequence[Line],
        fields: Mapping[str, Value] | None = None,
        *,
        gpu: int | None = None,
        rank: int | None = None,
        pid: int | None = None,
        host: str | None = None,
        labels: tuple[tuple[str, int], ...] = (),
    ) -> None:
        """Record a finding whose evidence is ``lines``; beyond ``MAX_FINDINGS`` it is only noted."""
        if len(self.items) >= MAX_FINDINGS:
            self.note(f"more than {MAX_FINDINGS} findings; the rest is left out")
            return
        first = lines[0] if lines else None
        self.items.append(
            finding(
                rule_id,
                fields or {},
                self.source,
                self.index,
                "\n".join(line.text.rstrip() for line in lines[:40]),
                rank=rank,
                host=host or self.source.host or self.host,
                gpu=gpu,
                pid=pid,
                line=first.number if first else None,
                offset=first.offset if first else 0,
                labels=labels,
            )
        )

    def note(self, text: str) -> None:
        """Say once what could not be read."""
        if text not in self.notes and len(self.notes) < 50:
            self.notes.append(text)

    def reading(self) -> Reading:
        """Everything collected."""
        return Reading(self.kind, tuple(self.items), tuple(self.notes), self.complete)
