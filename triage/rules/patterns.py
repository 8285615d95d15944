"""What a rule's patterns mean, and the literals that make them findable.

In patterns and anchors a space stands for any run of white space, line breaks included, because
programs wrap their messages. ``.`` does not cross lines; ``^`` and ``$`` match at the ends of a line.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import regex

MIN_ANCHOR = 4
"""Shorter literals hit too many lines to be worth scanning for."""
MIN_ADDED = 14
"""Literals that are added to anchors that a rule names are at least so long."""
MAX_ALTERNATIVES = 16
MIN_NEED = 3
"""Shorter literals are in most records: looking whether one is there decides nothing."""
MAX_NEEDS = 6


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


def infer_anchors(patterns: Iterable[str], given: Iterable[str] = ()) -> tuple[str, ...]:
    """Literals of which every match of every pattern contains one, ``given`` ones included.

    A pattern whose matches all contain a given literal adds nothing; any other adds its own: the longest
    literal that all its matches contain or, where it begins to differ, one for each alternative.
    """
    given = tuple(given)
    anchors = list(given)
    known = {anchor.lower() for anchor in anchors}
    for pattern in patterns:
        choices = _choices(pattern, _ANCHORS)
        if any(all(_has(literal, known) for literal in choice) for choice in choices):
            continue
        best = _best(choices, MIN_ANCHOR)
        if given and best and min(map(len, best)) < MIN_ADDED:
            continue  # the author chose anchors; a short literal of ours would hit too many lines
        for literal in best:
            if literal.lower() not in known:
                known.add(literal.lower())
                anchors.append(literal)
    return tuple(anchors)


def needs(pattern: str) -> list[list[str]]:
    """Sets of literals, lower case with single spaces: every match of ``pattern`` contains one of each set.

    The rarest first. Empty when nothing is known.
    """
    usable = [choice for choice in _choices(pattern, _NEEDS) if min(map(len, choice)) >= MIN_NEED]
    sets = {_shortest(" ".join(literal.lower().split()) for literal in choice) for choice in usable}
    sets = {choice for choice in sets if not any(_implies(other, choice) for other in sets - {choice})}
    ordered = sorted(sets, key=lambda choice: (-min(map(len, choice)), choice))
    return [list(choice) for choice in ordered[:MAX_NEEDS]]


def _shortest(choice: Iterable[str]) -> tuple[str, ...]:
    """The literals of ``choice`` that hold no other of them."""
    literals = tuple(dict.fromkeys(choice))
    return tuple(one for one in literals if not any(other in one for other in literals if other != one))


def _implies(choice: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether a text with a literal of ``choice`` has one of ``other`` too."""
    return all(any(part in literal for part in other) for literal in choice)


class _Kind(NamedTuple):
    """Which literals are gathered."""

    least: int
    """Characters that those of alternatives must have."""
    whole: bool
    """Whether what stands before alternatives is made a part of each of them."""


_ANCHORS = _Kind(MIN_ANCHOR, whole=False)
"""Few, since everything is searched for them."""
_NEEDS = _Kind(MIN_NEED, whole=True)
"""Those that tell most: only records with an anchor are searched for them."""


def _has(literal: str, anchors: Iterable[str]) -> bool:
    text = literal.lower()
    return any(anchor in text for anchor in anchors)


def _best(choices: list[tuple[str, ...]], least: int) -> tuple[str, ...]:
    """The choice whose shortest literal is longest: it will hit the fewest lines."""
    usable = [c for c in choices if min(map(len, c)) >= least and len(c) <= MAX_ALTERNATIVES]
    return max(usable, key=lambda c: min(map(len, c)), default=())


def _choices(pattern: str, kind: _Kind) -> list[tuple[str, ...]]:
    """Sets of literals such that every match of ``pattern`` contains one of each set."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _parse(pattern)
    except Exception:  # a construct that only the regex module knows: the rule names its anchor
        return []
    choices = _within(tree, kind)
    stripped = [tuple(literal.strip() for literal in choice) for choice in choices]
    return [choice for choice in stripped if all(choice)]


def _parse(pattern: str) -> Any:
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        import sre_parse as _parser
    return _parser.parse(pattern)


def _collect(tree: Any, run: str, choices: list[tuple[str, ...]], kind: _Kind) -> str:
    """Add what ``tree`` requires to ``choices``; returns the literal run that is still open."""
    for op, argument in tree:
        name = str(op)
        if name == "LITERAL":
            run += chr(argument)
        elif name == "SUBPATTERN":
            run = _collect(argument[3], run, choices, kind)
        elif name == "AT":
            continue
        else:
            choices.append((run,))
            if name == "BRANCH":
                before = run if kind.whole else ""
                each = [_best(_within(branch, kind, before), kind.least) for branch in argument[1]]
                if all(each):
                    choices.append(tuple(literal for best in each for literal in best))
            elif name in {"MAX_REPEAT", "MIN_REPEAT"} and argument[0] >= 1:
                choices.extend(_within(argument[2], kind))
            run = ""
    return run


def _within(tree: Any, kind: _Kind, run: str = "") -> list[tuple[str, ...]]:
    """The choices of a part of a pattern, before which the literal ``run`` stands."""
    choices: list[tuple[str, ...]] = []
    choices.append((_collect(tree, run, choices, kind),))
    return [choice for choice in choices if all(choice)]
