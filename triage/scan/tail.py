"""The last words of a source: lines near its end that state an error in so many words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triage.model import Block, Evidence, Finding, Source
from triage.scan.prefix import split_line
from triage.text import safe

TAIL = 16 * 1024
MAX_LINES = 40
MAX_SIGNS = 300
ALIVE_RULE = "progress.alive"
FINAL_LINES = 3
"""Lines at the very end in which an exception's name anywhere counts."""
_STATES_AN_ERROR = re.compile(
    r"^(?:[\w./-]+: ){0,3}(?:fatal|error|critical|panic)\b|"
    r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)\b(?::|$)|"
    r"\(core dumped\)|: (?:command not found|Permission denied|No such file or directory|cannot execute)|"
    r"\b(?:FATAL|CRITICAL|PANIC)\b|^Aborted\b|^Killed\b|terminate called|"
    r"\b(?:exited|failed|terminated) with (?:exit |non-zero |error )*(?:code|status)\s*:?\s*[1-9-]",
    re.IGNORECASE,
)
_NAMES_AN_EXCEPTION = re.compile(r"\b(?:[A-Z]\w*(?:Error|Exception)): \S")
_ALARMS = re.compile(
    r"\b(?:errors?|fail(?:ed|ure|ing)?|fatal|exception|tim(?:ed|e) ?out|timeouts?|stall(?:ed)?|hang(?:s|ing)?|hung|stuck|"
    r"abort(?:ed|ing)?|kill(?:ed|ing)|panic|refused|denied|unreachable|deadlock(?:ed)?|crash(?:ed)?|cannot|can't|"
    r"could not|couldn't|unable|corrupt(?:ed)?|shut down|lost)\b",
    re.IGNORECASE,
)
_TWO_WORDS = re.compile(r"[^\W\d_]{2,}[^\w\n]{1,8}\w{2,}")
_HARMLESS = re.compile(r"\b(?:0|no) (?:errors?|fail\w*)\b|errors?[=:] ?0\b|\bwarn", re.IGNORECASE)


def intelligible(block: Block) -> bool:
    """Whether a block holds text that a person could read: a line with two words."""
    sample = block.data[:65536]
    if b"\0" in sample[:4096]:
        return False
    text = sample.decode("utf-8", "replace")
    if text.count("\ufffd") * 10 > len(text):
        return False
    return _TWO_WORDS.search(text) is not None


def last_signs_of_life(block: Block, source: Source, index: int) -> Iterator[Finding]:
    """For each writer near the end of a source, its last line of level info or debug.

    Who still logs in an ordinary way after an error has got over it; who does so after others timed
    out was working all the while.
    """
    data = block.data
    start = max(0, len(data) - 4 * TAIL)
    start = data.find(b"\n", start) + 1 if start else 0
    number = block.line + data.count(b"\n", 0, start)
    seen: dict[str, Finding] = {}
    lines = data[start:].split(b"\n")
    position = start + sum(len(raw) + 1 for raw in lines[:-MAX_SIGNS])
    first = max(0, len(lines) - MAX_SIGNS)
    for i, raw in enumerate(lines[first:], first):
        if b"nfo" in raw or b"NFO" in raw or b"EBUG" in raw or b"I" in raw[:40]:
            text = raw.decode("utf-8", "replace")[:2000]
            prefix, message = split_line(text)
            if prefix.level in {"info", "debug"} and message.strip() and not message.startswith("NCCL INFO"):
                seen[prefix.stream] = Finding(
                    rule_id=ALIVE_RULE, fields={}, evidence=(Evidence(source.name, number + i, safe(text)),),
                    source=index, offset=block.offset + position,
                    rank=prefix.rank if prefix.rank is not None else source.rank,
                    local_rank=prefix.local_rank if prefix.local_rank is not None else source.local_rank,
                    host=prefix.host or source.host, pid=prefix.pid, time=prefix.time, level=prefix.level,
                    stream=prefix.stream,
                )  # fmt: skip
        position += len(raw) + 1
    yield from seen.values()


def alarms(block: Block, name: str, taken: set[int]) -> Iterator[Evidence]:
    """Lines near the end with alarming words that no rule knows: reason not to call a log healthy."""
    data = block.data
    start = max(0, len(data) - TAIL)
    start = data.find(b"\n", start) + 1 if start else 0
    number = block.line + data.count(b"\n", 0, start)
    lines = [(number + i, raw) for i, raw in enumerate(data[start:].split(b"\n")) if raw.strip()]
    final = {line for line, _ in lines[-FINAL_LINES:]}
    for line, raw in lines[-MAX_LINES:]:
        text = raw[:2000].decode("utf-8", "replace")
        if line in taken or not _ALARMS.search(text) or _HARMLESS.search(text):
            continue
        prefix, message = split_line(text)
        quiet = {"info", "debug"} if line in final else {"info", "debug", "warning"}
        if prefix.level not in quiet and _ALARMS.search(message):
            yield Evidence(name, line, safe(text))


def plain_lines(block: Block, name: str, taken: set[int]) -> Iterator[Evidence]:
    """Lines near the end that no rule knows, alarming or not."""
    data = block.data
    start = max(0, len(data) - TAIL)
    start = data.find(b"\n", start) + 1 if start else 0
    number = block.line + data.count(b"\n", 0, start)
    for i, raw in enumerate(data[start:].split(b"\n")[-MAX_SIGNS:]):
        text = raw[:200].decode("utf-8", "replace")
        if number + i not in taken and any(c.isalpha() for c in text):
            yield Evidence(name, number + i, text)


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
    final = {line for line, _ in lines[-FINAL_LINES:]}
    for line, raw in lines[-MAX_LINES:]:
        prefix, message = split_line(raw[:2000])
        message = message.strip()
        loud = (
            prefix.level in {"error", "fatal"}
            or _STATES_AN_ERROR.search(message) is not None
            or (line in final and _NAMES_AN_EXCEPTION.search(message) is not None)
        )
        if loud and message and not _HARMLESS.search(message) and line not in taken:
            yield Evidence(name, line, safe(raw))
