"""The last words of a source: lines near its end that state an error in so many words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triage.model import Block, Evidence
from triage.scan.prefix import split_line
from triage.text import safe

TAIL = 16 * 1024
MAX_LINES = 40
_STATES_AN_ERROR = re.compile(
    r"^(?:[\w./-]+: ){0,3}(?:fatal|error|critical|panic)\b|"
    r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)\b(?::|$)|"
    r"\(core dumped\)|: (?:command not found|Permission denied|No such file or directory|cannot execute)|"
    r"\b(?:FATAL|CRITICAL|PANIC)\b|^Aborted\b|^Killed\b|terminate called|"
    r"\b(?:exited|failed|terminated) with (?:exit |non-zero |error )*(?:code|status)\s*:?\s*[1-9-]",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"\b(?:0|no) (?:errors?|fail\w*)\b|errors?[=:] ?0\b|\bwarn", re.IGNORECASE)


def last_words(block: Block, name: str, taken: set[int]) -> Iterator[Evidence]:
    """Lines of the last block's tail that state an error; ``taken`` holds lines that a rule knows."""
    data = block.data
    start = max(0, len(data) - TAIL)
    start = data.find(b"\n", start) + 1 if start else 0
    number = block.line + data.count(b"\n", 0, start)
    lines = [
        (number + i, raw.decode("utf-8", "replace"))
        for i, raw in enumerate(data[start:].split(b"\n"))
        if raw.strip()
    ]
    for line, raw in lines[-MAX_LINES:]:
        prefix, message = split_line(raw[:2000])
        message = message.strip()
        loud = prefix.level in {"error", "fatal"} or _STATES_AN_ERROR.search(message)
        if loud and message and not _HARMLESS.search(message) and line not in taken:
            yield Evidence(name, line, safe(raw))
