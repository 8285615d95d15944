"""Patterns that are not compiled before a text has one of the words that they need."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import pytest

import triage
from triage.scan.lazy import Lazy, Needing, deferred

try:
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_parse as parser  # type: ignore[no-redef]

FEW = 5
"""Characters of a class that are tried one by one."""
NEXT = 6
"""Parts of a pattern that are looked at behind one that matches in several ways."""


def test_nothing_is_found_where_no_word_is_that_the_pattern_needs() -> None:
    pattern = deferred(r"\d+ (?:shards?|files) lost", re.IGNORECASE, ("lost",))
    assert pattern.search("all is well") is None
    assert pattern.match("all is well") is None
    assert pattern.fullmatch("all is well") is None
    assert pattern.findall("all is well") == []
    assert list(pattern.finditer("all is well")) == []
    assert pattern.sub("#", "all is well") == "all is well"


def test_what_has_a_word_is_searched_as_ever_and_so_is_all_that_comes_after() -> None:
    pattern = deferred(r"(\d+) (?:shards?|files) lost", re.IGNORECASE, ("lost",))
    assert pattern.search("nothing lost") is None
    found = pattern.search("at the end 3 Shards LOST", 5)
    assert found is not None
    assert found[1] == "3"
    assert pattern.sub("#", "1 file, 2 files lost") == "1 file, #"
    assert pattern.search("all is well") is None
    assert pattern.groups == 1


def test_a_place_is_looked_at_only_in_texts_with_a_word() -> None:
    level = Lazy("(INFO|WARN) ", ("INFO", "WARN"))
    assert level.match("> info here", 2) is None
    found = level.match("> WARN here", 2)
    assert found is not None
    assert found[1] == "WARN"


def _declared() -> Iterator[tuple[str, int, Sequence[str]]]:
    """All patterns of triage that name words which they need."""
    for module in pkgutil.walk_packages(triage.__path__, "triage."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for one in gc.get_objects():
        if type(one) is Needing:
            yield str(one.source), one.given, [str(word) for word in one.needs]
        elif type(one) is Lazy and one.needs:
            yield one.source, re.ASCII, one.needs


DECLARED = list(_declared())


@pytest.mark.parametrize(("source", "flags", "needs"), DECLARED, ids=[str(at) for at in range(len(DECLARED))])
def test_every_match_holds_a_word_that_the_pattern_needs(
    source: str, flags: int, needs: Sequence[str]
) -> None:
    folded = bool(flags & re.IGNORECASE)
    assert not folded or all(word == word.lower() for word in needs)
    lacking = _lacking(list(parser.parse(source, flags)), needs, folded)
    assert lacking is None, f"{lacking!r} is matched without any of the words"


def test_a_match_without_the_words_is_noticed() -> None:
    assert _lacking(list(parser.parse("(?:wrote|saved) it|left")), ("wrote", "saved", "left"), False) is None
    assert _lacking(list(parser.parse("(?:wrote|saved) it|left")), ("wrote", "left"), False) == "…"
    assert _lacking(list(parser.parse("time-?out")), ("timeout",), False) is not None
    assert _lacking(list(parser.parse("time-?out")), ("timeout", "time-out"), False) is None
    assert _lacking(list(parser.parse("a(?:bc)+d")), ("abcd",), False) is not None
    assert _lacking(list(parser.parse(r"(?i:lost)\d")), ("lost",), False) is not None


def _lacking(tree: Sequence[Any], words: Sequence[str], folded: bool, run: str = "") -> str | None:
    """What ``tree`` matches below ``run`` without one of ``words``, ``…`` for what may be anything; None where nothing."""
    for at, (op, argument) in enumerate(tree):
        name = str(op)
        if name == "AT":
            continue
        if name == "LITERAL":
            run += chr(argument).lower() if folded else chr(argument)
            if any(word in run for word in words):
                return None
            continue
        repeated = name in {"MAX_REPEAT", "MIN_REPEAT"} and argument[0]
        if repeated or (name == "ASSERT" and argument[0] > 0):
            # how often is not known, or what of it is looked at once more: nothing can be said of what goes on with it
            if _lacking(list(argument[-1]), words, folded, "" if repeated else run) is None:
                return None
            run += "…"
            continue
        ways = _ways(name, argument, folded)
        if ways and all(
            _lacking([*way, *_literals(tree[at + 1 :])], words, folded, run) is None for way in ways
        ):
            return None
        run += "…"
    return run


def _ways(name: str, argument: Any, folded: bool) -> Sequence[Sequence[Any]]:
    """The ways in which a part of a pattern matches, none where they are too many or unknown."""
    if name == "SUBPATTERN" and bool(argument[1] & re.IGNORECASE) <= folded:
        return [list(argument[3])]
    if name == "BRANCH":
        return [list(way) for way in argument[1]]
    if name == "IN" and len(argument) <= FEW and all(str(op) == "LITERAL" for op, _ in argument):
        return [[member] for member in argument]
    if name in {"MAX_REPEAT", "MIN_REPEAT"} and argument[1] == 1:
        return [[], list(argument[2])]
    return []


def _literals(tree: Sequence[Any]) -> Sequence[Any]:
    """The letters, some of them optional, with which a pattern goes on."""
    simple = ("LITERAL", "IN", "MAX_REPEAT", "BRANCH", "SUBPATTERN")
    return list(takewhile(lambda part: str(part[0]) in simple, tree))[:NEXT]
