"""Logs that came by way of a page or a viewer, read as they were written.

A viewer numbers the lines, a mail or an issue puts a quotation mark before each, a page or an editor indents all of them
by blanks or a tab, a pager shows the carriage returns at their ends, and a page writes ``<``, ``>`` and quotation marks as entities.
That is taken off where all lines show it, or many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LARGEST = 8 << 20
"""Bytes that somebody may have posted."""
_SEEN = 400
"""Lines by which it is judged."""
_FEWEST = 8
"""Lines that are not numbered one by one by chance."""
_NUMBERED = re.compile(r"[ \t]{0,8}(\[)?(\d{1,7})(?(1)\])(?=[\s|:.)│]|$)")
_APART = re.compile(r"[ \t|:.)│]*")
"""What stands between a number and its line."""
_QUOTED = re.compile(r"> ?")
_MARGIN = 2
"""Blanks before all lines that are no writer's own: one is Megatron's, or a number's that is set flush right."""
_VALUE = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?")
_SHAPES = 4
"""Kinds of lines, apart from values, that a table with numbered rows does not have."""
_ENTITIES = re.compile(rb"&(?:lt|gt|quot|amp|#39|#x27);")
_OF_A_PAGE = re.compile(rb"File &quot;[^\n]{1,400}&quot;, line \d|, in &lt;\w+&gt;|\d(?:\[\w+\])? -&gt; \d")
"""What no program writes: frames and channels with entities."""


def as_written(data: bytes) -> bytes | None:
    """``data`` without what was put around its lines; None where nothing was, or it is no text that was posted."""
    if len(data) > LARGEST or b"\0" in data[:1024]:
        return None
    found = data
    if _ENTITIES.search(data) is not None and _OF_A_PAGE.search(data) is not None:
        from html import unescape

        found = unescape(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    if found.count(b"^M\n") * _FEWEST > found.count(b"\n") > _FEWEST:
        found = found.replace(b"^M\n", b"\n").removesuffix(
            b"^M"
        )  # how a pager or an editor shows carriage returns
    begun = found[:200].lstrip(b"\r\n")
    if begun[:1] in b"\t>[ 0123456789":
        lines = found.decode("utf-8", "surrogateescape").split("\n")
        bare = _without_margin(lines)
        if bare is not None:
            found = "\n".join(bare).encode("utf-8", "surrogateescape")
    return None if found is data else found


def _without_margin(lines: Sequence[str]) -> list[str] | None:
    sample = [line for line in lines[:_SEEN] if line.strip()]
    if len(sample) < _FEWEST:
        return None
    if all(line[0] == "\t" for line in sample):
        return [line.removeprefix("\t") for line in lines]
    if all(line[0] == ">" for line in sample):
        return [line[found.end() :] if (found := _QUOTED.match(line)) else line for line in lines]
    numbered = _without_numbers(lines)
    margin = " " * min(len(line) - len(line.lstrip(" ")) for line in sample)
    if numbered is not None or len(margin) < _MARGIN:
        return numbered
    return [line.removeprefix(margin) if line.startswith(margin) else line.lstrip(" ") for line in lines]


def _without_numbers(lines: Sequence[str]) -> list[str] | None:
    """``lines`` without their numbers, where each has the one that follows the number of the line above it."""
    rests: list[str] = []
    apart: str | None = None
    above: int | None = None
    for at, line in enumerate(lines):
        found = _NUMBERED.match(line)
        if found is None or (above is not None and int(found[2]) != above + 1):
            if at >= _FEWEST and not line.strip() and not any(rest.strip() for rest in lines[at:]):
                break
            return None
        above = int(found[2])
        rest = line[found.end() :]
        rests.append(rest)
        if rest.strip(" \t\r|│"):
            here = _APART.match(rest)
            width = "" if here is None else here[0]
            apart = width if apart is None else _shared(apart, width)
    if len(rests) < _FEWEST or not apart or len({_VALUE.sub("0", rest) for rest in rests[:_SEEN]}) < _SHAPES:
        return None
    return [rest.removeprefix(apart) if rest.startswith(apart) else rest.lstrip(" \t|│") for rest in rests]


def _shared(one: str, other: str) -> str:
    """What both begin with."""
    end = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return one[: min(len(one), len(other))] if end is None else one[:end]
