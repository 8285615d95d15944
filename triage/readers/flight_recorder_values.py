"""Single values out of a dump's plain data: whatever is there, of the right type or unknown.

A pickle may refer to one list a million times. What is made of it is made once, by identity, so that a
small file can't grow into a large model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

MAX_RANKS = 1 << 17
MAX_TENSORS = 4096
MAX_DIMENSIONS = 32
MAX_ELEMENTS = 1 << 62
MAX_FRAMES = 200
PLACES = 2
MAX_TEXT = 300

_LIBRARY = re.compile(
    r"(?:site|dist)-packages[/\\]|[/\\]lib[/\\]python3|^<frozen|\.(?:cpp|cc|cu|c|h|hpp|so[.\d]*)$|^\?*$|"
    r"(?:^|[/\\])torch[/\\](?:distributed|nn|optim|autograd|utils|cuda|fx|jit|_\w+)[/\\.]"
)


def integer(value: object) -> int | None:
    """An int, also one written as text; truth values and what no counter can hold are none."""
    if type(value) is int:
        return value if -(1 << 63) <= value < 1 << 64 else None
    if isinstance(value, str) and len(value) <= 20 and re.fullmatch(r"-?[0-9]+", value):
        return int(value)
    return None


def text(value: object) -> str:
    """Text of bounded length; empty when there is none."""
    if isinstance(value, str):
        return value[:MAX_TEXT]
    return str(value)[:MAX_TEXT] if isinstance(value, int | float) else ""


def items(value: object) -> Sequence[object]:
    """The items of a list or tuple; none of anything else."""
    return value if isinstance(value, list | tuple) else ()


def ranks(value: object) -> tuple[int, ...]:
    """Ranks from ``"[0, 1]"`` or a list, in their order, each once."""
    if isinstance(value, str):
        numbers = [int(number) for number in re.findall(r"\d{1,7}", value[: MAX_RANKS * 9])]
    else:
        numbers = [number for item in items(value)[:MAX_RANKS] if (number := integer(item)) is not None]
    return tuple(dict.fromkeys(number for number in numbers[:MAX_RANKS] if number >= 0))


class Shared:
    """What is made of lists: element counts, types, places; each list's once. The lists must stay alive."""

    def __init__(self) -> None:
        self._totals: dict[int, int] = {}
        self._numels: dict[int, int] = {}
        self._types: dict[int, tuple[str, ...]] = {}
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._places: dict[int, str | None] = {}
        self._library: dict[str, bool] = {}

    def elements(self, value: object) -> int:
        """Number of elements of some tensors together, from their sizes."""
        made = self._totals.get(id(value))
        if made is None:
            made = self._totals[id(value)] = sum([self._numel(sizes) for sizes in items(value)[:MAX_TENSORS]])
        return made

    def types(self, value: object) -> tuple[str, ...]:
        """The types of some tensors, each once, sorted."""
        made = self._types.get(id(value))
        if made is None:
            names = {text(name) for name in items(value)[:MAX_TENSORS]}
            made = self._types[id(value)] = self._known.setdefault(tuple(sorted(names)), tuple(sorted(names)))
        return made

    def place(self, value: object) -> str | None:
        """The innermost frames outside of libraries: ``step (model.py:59) called from main (train.py:7)``."""
        if id(value) not in self._places:
            self._places[id(value)] = self._innermost(items(value))
        return self._places[id(value)]

    def _numel(self, value: object) -> int:
        made = self._numels.get(id(value))
        if made is None:
            numbers = [
                number for size in items(value)[:MAX_DIMENSIONS] if (number := integer(size)) is not None
            ]
            made = self._numels[id(value)] = min(prod(numbers), MAX_ELEMENTS)
        return made

    def _innermost(self, frames: Sequence[object]) -> str | None:
        found: list[str] = []
        for frame in frames[:MAX_FRAMES]:
            if not isinstance(frame, dict):
                continue
            file = text(frame.get("filename"))
            inside = self._library.get(file)
            if inside is None:
                inside = self._library[file] = _LIBRARY.search(file) is not None
            if not inside:
                line = integer(frame.get("line"))
                found.append(f"{text(frame.get('name')) or '?'} ({file}{'' if line is None else f':{line}'})")
                # the innermost is often a helper that every collective goes through
                if len(found) == PLACES:
                    break
        return " called from ".join(found) or None
