"""Several files in one, as ``tail -n +1 *``, ``head``, ``more`` and ``grep "" *`` print them: each a source of its own again.

What stands in such a file is read as if the files themselves had been given, by the names that they had. A stream
that is too large to be looked at beforehand is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from triage.model import Source
from triage.sources.blocks import first_bytes, whole_of
from triage.sources.labels import labelled

LARGEST = 8 << 20
"""Bytes of a file that is taken apart."""
_LOOKED_AT = 1 << 10
"""Bytes by which it shows that there is anything to look for."""
_HEAD = re.compile(rb"(?m)^==> (\S[^\n]{0,300}\S) <==\r?$|^:{14}\r?\n(\S[^\n]{0,300}\S)\r?\n:{14}\r?$")
_BEGUN = re.compile(rb"(?m)^(?:==> \S|:{14}\r?$)")
_NAMED = re.compile(
    rb"(?P<name>[^\s:]{0,200}(?:\.(?:log|err|out|txt)(?:\.\d{1,4})?|/std(?:out|err)(?:\.\d{1,4})?)):"
)
_A_NAME = re.compile(
    r"/|\.(?:log|err|out|txt|jsonl?)\b|(?i:rank|node|worker|host|task|slurm|std(?:out|err)|dmesg)"
)
"""What names of files have and headlines have not."""
_NUMBER = re.compile(rb"(\d{1,8}):")
_FEWEST = 8
"""Lines that don't begin with the names of files by chance."""


def taken_apart(sources: Iterable[Source]) -> tuple[Source, ...]:
    """``sources``, those that hold several files replaced by these, labelled as files are.

    Lines of one that stands in a bundle as a whole are counted there; others are called ``BUNDLE:FILE``.
    """
    result: list[Source] = []
    for source in sources:
        files = _files(source)
        if not files:
            result.append(source)
            continue
        result += labelled(
            replace(
                source,
                name=f"{source.name}:{name}" if name and file.above is None else source.name,
                path=name or source.path,
                data=file.data,
                rank=None,
                local_rank=None,
                above=file.above or 0,
            )
            for name, file in files.items()
        )
    return tuple(result)


class _File(NamedTuple):
    """What a bundle has of one file, and how many lines stand above it, where it stands in one place as it is."""

    data: bytes
    above: int | None = None


def _files(source: Source) -> dict[str, _File]:
    """The files in ``source`` by their names, what stands before the first by none; nothing where it is no bundle."""
    if source.kind is not None or source.stream is not None:
        return {}
    head = first_bytes(source, _LOOKED_AT)
    headed = _BEGUN.search(head) is not None
    if not headed and _NAMED.match(head.lstrip(b"\r\n")) is None:
        return {}
    data = whole_of(source, LARGEST)
    return _below_heads(data) if headed else _of_named_lines(data)


def _below_heads(data: bytes) -> dict[str, _File]:
    """What stands below each head; ``tail -f`` names a file again whenever it has more."""
    heads = list(_HEAD.finditer(data))
    if not heads:
        return {}
    names = [(head[1] or head[2]).decode("utf-8", "replace") for head in heads]
    if not any(_A_NAME.search(name) for name in names):
        return {}  # a program's own headlines
    pieces: dict[str, list[bytes]] = {}
    places: dict[str, int] = {}
    before = data[: heads[0].start()]
    if before.strip():
        pieces[""], places[""] = [before], 0
    line = counted = 0
    ends: Sequence[int] = [*(head.start() for head in heads[1:]), len(data)]
    for name, head, end in zip(names, heads, ends, strict=True):
        text = data[head.end() : end].removeprefix(b"\n")
        if end < len(data) and text.endswith(b"\n\n"):
            text = text[:-1]  # which sets the next head apart
        line, counted = line + data.count(b"\n", counted, head.end() + 1), head.end() + 1
        pieces.setdefault(name, []).append(text)
        places.setdefault(name, line)
    return {
        name: _File(b"".join(texts), places[name] if len(texts) == 1 else None)
        for name, texts in pieces.items()
    }


def _of_named_lines(data: bytes) -> dict[str, _File]:
    """The lines behind each name, where all lines bear one and several are named."""
    rows = [row for row in data.split(b"\n") if row.strip()]
    found = [_NAMED.match(row) for row in rows]
    if len(rows) < _FEWEST or any(match is None for match in found):
        return {}
    files: dict[bytes, list[bytes]] = {}
    for row, match in zip(rows, found, strict=True):
        if match is not None:
            files.setdefault(match["name"], []).append(row[match.end() :])
    if len(files) < 2:
        return {}
    return {
        name.decode("utf-8", "replace"): _File(b"\n".join([*_without_numbers(lines), b""]))
        for name, lines in files.items()
    }


def _without_numbers(lines: Sequence[bytes]) -> Sequence[bytes]:
    """``lines`` without what ``grep -n`` puts before them: numbers that grow from each line to the next."""
    found = [_NUMBER.match(line) for line in lines]
    numbers = [int(match[1]) for match in found if match is not None]
    if len(numbers) < len(lines) or any(above >= below for above, below in pairwise(numbers)):
        return lines
    return [line.partition(b":")[2] for line in lines]
