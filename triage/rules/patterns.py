"""What a rule's patterns mean, and the literals that make them findable.

In patterns and anchors a space stands for any run of white space, line breaks included, because
programs wrap their messages. ``.`` does not cross lines; ``^`` and ``$`` match at the ends of a line.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import regex

MIN_ANCHOR = 4
"""Shorter literals hit too many lines to be worth scanning for."""


def spaced(pattern: str) -> str:
    """``pattern`` with every plain space outside a character class turned into ``\\s+``."""
    out: list[str] = []
    in_class = False
    i = 0
    while i < len(pattern):
        char = pattern[i]
        if char == "\\" and i + 1 < len(pattern):
            out.append(pattern[i : i + 2])
            i += 2
            continue
        if in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            # "[]...]" and "[^]...]" start with a literal bracket
            skip = 2 if pattern[i + 1 : i + 2] == "^" else 1
            if pattern[i + skip : i + skip + 1] == "]":
                out.append(pattern[i : i + skip + 1])
                i += skip + 1
                continue
        if char == " " and not in_class:
            out.append(r"\s+")
            while pattern[i + 1 : i + 2] == " ":
                i += 1
            if pattern[i + 1 : i + 2] in {"?", "*", "{"}:
                out[-1] = r"\s"  # "a ?b" and "a *b" quantify one space
        else:
            out.append(char)
        i += 1
    return "".join(out)


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> regex.Pattern[str]:
    """The compiled pattern.

    Raises:
        regex.error: when it is not a valid pattern.
    """
    import regex

    return regex.compile(spaced(pattern), regex.MULTILINE)


def infer_anchors(patterns: Iterable[str]) -> tuple[str, ...]:
    """One literal per pattern that every match of it contains, where there is one.

    The longest literal is taken, up to an unescaped quantifier or group that may be absent.
    """
    anchors: list[str] = []
    for pattern in patterns:
        literal = longest_literal(pattern)
        if literal and literal.lower() not in {a.lower() for a in anchors}:
            anchors.append(literal)
    return tuple(anchors)


def longest_literal(pattern: str) -> str | None:
    """The longest run of characters that every match contains, None when below MIN_ANCHOR."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _parse(pattern)
    except Exception:  # a construct that only the regex module knows: the rule names its anchor
        return None
    runs: list[str] = [""]
    _collect(tree, runs)
    best = max((run.strip() for run in runs), key=len)
    return best if len(best) >= MIN_ANCHOR else None


def _parse(pattern: str) -> Any:
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        import sre_parse as _parser
    return _parser.parse(pattern)


def _collect(tree: Any, runs: list[str]) -> None:
    for op, argument in tree:
        name = str(op)
        if name == "LITERAL":
            runs[-1] += chr(argument)
        elif name == "SUBPATTERN":
            _collect(argument[3], runs)
        elif name == "MAX_REPEAT" and argument[0] >= 1 and argument[0] == argument[1] == 1:
            _collect(argument[2], runs)
        elif name == "AT":
            continue
        else:
            runs.append("")
