"""Applying a rule's signature to a record: patterns, typed fields, conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from triage.model import Prefix, Value
from triage.rules.fields import CONVERTERS
from triage.rules.pack import Needs
from triage.rules.patterns import compile_pattern
from triage.rules.schema import Rule, Signature
from triage.scan.window import Record

PATTERN_TIMEOUT = 0.25
"""Seconds that one pattern may take on one record; beyond, the pattern does not match."""
_LIMITS: Mapping[str, Any] = {"timeout": PATTERN_TIMEOUT, "concurrent": False}
"""The limit counts processor time of the whole process: were the interpreter's lock given up meanwhile,
the work of other threads would be charged to this pattern, and what matches would depend on them."""
MAX_FIELD = 1000


@dataclass(slots=True, eq=False, repr=False)
class Match:
    """Where a signature matched in a record's text, and what it captured."""

    start: int
    end: int
    fields: Mapping[str, Value]


class Matcher:
    """The signature of one rule, each pattern compiled when a record has what it needs.

    Args:
        needs: for each pattern, sets of literals of each of which every match has one; nothing where
            none is known.
    """

    def __init__(self, rule: Rule, needs: Sequence[Needs] = ()) -> None:
        if rule.signature is None:
            raise ValueError(f"rule {rule.id} has no signature")
        self.rule = rule
        self.signature: Signature = rule.signature
        texts = rule.signature.patterns or tuple(_literal(a) for a in rule.signature.anchors)
        self._patterns = list(zip_longest(texts, needs, fillvalue=()))

    def possible(self, text: bytes) -> bool:
        """Whether some record within ``text``, which is in small letters, may match: whether the words are there that it needs."""
        return any(
            all(any(_stands(literal, text) for literal in choice) for choice in needs)
            for _, needs in self._patterns
        )

    def match(self, record: Record) -> Match | None:
        """The first pattern that matches, starting at or before the hit line, and its fields.

        None when no pattern matches or ``where`` is not known to hold.
        """
        for pattern, needs in self._patterns:
            if not all(any(literal in record.folded for literal in choice) for choice in needs):
                continue
            found = self._search(compile_pattern(pattern), record)
            if found is None:
                continue
            fields = self._fields(found.groupdict())
            if self.signature.where is not None and not self.signature.where.holds(
                {**fields, **prefix_names(record.line.prefix)}
            ):
                continue
            return Match(found.start(), found.end(), fields)
        return None

    def _search(self, pattern: Any, record: Record) -> Any:
        begin, end = record.anchor
        # whoever pastes a message may break it anywhere: what goes on with a line may hold the anchor
        position = 0 if self.signature.before or record.index else begin
        try:
            found = pattern.search(record.text, position, **_LIMITS)
            # a match wholly before the hit line belongs to another hit
            while found is not None and found.end() <= begin and found.end() > position:
                position = found.end()
                found = pattern.search(record.text, position, **_LIMITS)
        except TimeoutError:
            return None
        # a match that starts on a later line is found by that line's own hit
        return found if found is not None and begin < found.end() and found.start() <= end else None

    def _fields(self, captured: Mapping[str, str | None]) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        for name, text in captured.items():
            value: Value = None
            if text is not None:
                kind = self.signature.fields.get(name, "str")
                try:
                    value = CONVERTERS[kind](" ".join(text.split())[:MAX_FIELD])
                except (ValueError, OverflowError):
                    value = None
            fields[name] = value
        for name, expression in self.signature.derive.items():
            if fields.get(name) is None:
                fields[name] = expression.evaluate(fields)
        return fields


def prefix_names(prefix: Prefix) -> dict[str, Value]:
    """What ``where`` may say about the line's prefix: ``rank``, ``level``, ``host``, ``logger``."""
    return {
        "line_rank": prefix.rank,
        "line_level": prefix.level,
        "line_host": prefix.host,
        "line_logger": prefix.logger,
    }


def _stands(literal: str, text: bytes) -> bool:
    """Whether each word of ``literal`` stands in a text; between them lines may end and others begin."""
    words = (word for word in literal.split() if word.isascii() and _ESCAPED.isdisjoint(word))
    return all(word.encode() in text for word in words)


_ESCAPED = frozenset('"\\<>&')
"""What a line of JSON may write otherwise than its message has it."""


def _literal(anchor: str) -> str:
    import regex

    return " ".join(regex.escape(part) for part in anchor.split())
