"""Filling the placeholders of a rule's texts with what was captured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from triage.diagnosis.prose import prose
from triage.rules.fields import show
from triage.rules.schema import Rule
from triage.rules.templates import PLACEHOLDER
from triage.scan.lazy import compiled, deferred

MAX_VALUE = 240
_SPACE = deferred(r"\s+")
_NOTHING = "\0"
_AROUND_NOTHING = deferred(r" ?\0(?=[ .:;,)]|$)|\0 ?")
"""An empty alternative takes the space before it along, so that no gap stands in the sentence."""
_ASIDE = deferred(r" \((?:[^(){}]|\{[^{}]*\})*\)")
"""Words in parentheses, which are left out where none of what they would tell is known."""
_UNKNOWN = (None, (), "")
_OF_NO_RANK = deferred(r"(?P<noun>\b[Rr]ank) \{(?P<name>ranks?)(?:\|(?P<fallback>[^{}]*))?\}")
"""A rank whose number may not be known: then it is just a process."""
_OWN_MARKS = r"[.;,)](?=\s|$|[.;,)])"
"""With what a sentence goes on or ends behind a value."""
_SEVERAL = "\1"
_OF_SEVERAL = deferred(r"(?i)(?P<noun>\b(?:rank|task)) \x01(?P<which>[^\x01]*)\x01(?: (?P<verb>\w+)\b)?")
_COUNT = "\2"
_OF_COUNT = deferred(
    r"\x02(?P<count>\d+)(?P<other> other)? (?P<noun>rank|element|GPU|node|file|client|worker|batch|process)"
    r"(?P<several>\(e?s\)|e?s\b)(?: (?P<verb>wait|are|were|have)\b)?"
)
"""How many of something there are: one of them is spoken of as one."""
_OF_ONE = {"wait": "waits", "are": "is", "were": "was", "have": "has"}
_PLURAL = {"was": "were", "is": "are", "has": "have", "does": "do"}
_SINGULAR = {
    "complains",
    "differs",
    "ends",
    "gets",
    "holds",
    "loads",
    "runs",
    "saves",
    "says",
    "states",
    "takes",
    "waits",
}
"""Verbs of the present that the rules' sentences have right behind a rank."""


def fill(text: str, values: Mapping[str, Any], kinds: Mapping[str, str], *, command: bool = False) -> str:
    """``text`` with ``{field}`` and ``{field|text when unknown}`` replaced.

    In a sentence values are shown as they read best; in a ``command`` as they were captured.
    """

    def value(match: re.Match[str]) -> str:
        name, fallback = match[1], match[2]
        known = values.get(name)
        if known in _UNKNOWN:
            if fallback is None:
                return f"an unknown {name.replace('_', ' ')}"
            return PLACEHOLDER.sub(value, fallback) or _NOTHING
        if isinstance(known, str) and not command:
            known = prose(known)
        shown = show(known, kinds.get(name, "ranks" if name == "ranks" else "str"))
        shown = _SPACE.sub(" ", shown).strip()
        several = name == "ranks" or kinds.get(name) in {"ranks", "tasks"}
        if type(known) is int and not command:
            return f"{_COUNT}{shown}"
        if several and not command and isinstance(known, tuple) and len(known) > 1:
            return f"{_SEVERAL}{_cut(shown)}{_SEVERAL}"
        if not command and compiled(_OWN_MARKS).match(match.string, match.end()) is not None:
            shown = shown.rstrip(" .:;,") or shown  # the sentence has its own marks
        return _cut(shown)

    def nameless(match: re.Match[str]) -> str:
        if values.get(match["name"]) not in _UNKNOWN or match["fallback"] not in {None, "unknown", "?"}:
            return match[0]
        return "A process" if match["noun"] == "Rank" else "a process"

    def aside(match: re.Match[str]) -> str:
        told = list(PLACEHOLDER.finditer(match[0]))
        empty = told and all(
            values.get(one[1]) in _UNKNOWN and (one[2] or "unknown").startswith("unknown") for one in told
        )
        return "" if empty else match[0]

    if not command:
        text = _ASIDE.sub(aside, text)
        text = _OF_NO_RANK.sub(nameless, text)
    filled = PLACEHOLDER.sub(value, text)
    if _SEVERAL in filled:
        filled = _OF_SEVERAL.sub(_plural, filled).replace(_SEVERAL, "")
    if _COUNT in filled:
        filled = _OF_COUNT.sub(_counted, filled).replace(_COUNT, "")
    return (_AROUND_NOTHING.sub("", filled) if _NOTHING in filled else filled).strip()


def _cut(shown: str) -> str:
    return shown if len(shown) <= MAX_VALUE else shown[: MAX_VALUE - 1] + "…"


def _counted(match: re.Match[str]) -> str:
    """``1 other ranks wait`` as ``1 other rank waits``, ``2 process(es)`` as ``2 processes``."""
    one, verb = match["count"] == "1", match["verb"]
    noun = match["noun"] + ("" if one else match["several"].strip("()"))
    said = "" if verb is None else f" {_OF_ONE[verb] if one else verb}"
    return f"{match['count']}{match['other'] or ''} {noun}{said}"


def _plural(match: re.Match[str]) -> str:
    """``Rank 9, 14 was`` as ``Ranks 9, 14 were``."""
    verb = match["verb"]
    if verb is not None:
        verb = " " + _PLURAL.get(verb, verb[:-1] if verb in _SINGULAR else verb)
    return f"{match['noun']}s {match['which']}{verb or ''}"


def kinds_of(rule: Rule) -> Mapping[str, str]:
    """Field types of a rule, for showing values with their units."""
    return rule.signature.fields if rule.signature is not None else {}
