"""Checked rules in the form that they are kept in: what every run needs first, each rule when it is asked for.

A pack is one line of JSON, after it columns of plain words, and then the rules themselves, each as JSON: a job meets
a few dozen of a thousand rules, and reading them all would take longer than answering. Columns that are only to be
cut at a sign are read in a tenth of the time that lists of JSON take.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import Any, NamedTuple

from triage.errors import RuleError
from triage.rules.schema import ENGINE_VERSION

NEEDS = "_needs"
"""Key under which a rule keeps what its patterns need."""
Needs = Sequence[Sequence[str]]
"""Sets of literals, of each of which every match of a pattern contains one."""
_COLUMN, _WORD = "\x1e", "\x1f"
"""What stands between columns, and between the words in them: ASCII's own signs for that."""


class Anchors(NamedTuple):
    """What is looked for, by columns."""

    literals: Sequence[str]
    windows: Sequence[str]
    """What the scan looks for in place of each."""
    rules: Sequence[str]
    """The ids of those that each belongs to, with spaces between them."""
    sampled: Collection[int]
    """Positions of those of which a sample is enough for all of their rules."""


class Place(NamedTuple):
    """Where a rule was written, and where it is in the body of its pack."""

    file: str | None
    line: int | None
    begin: int
    end: int


@dataclass(slots=True, eq=False, repr=False)
class Pack:
    """The rules of one place."""

    name: str
    anchors: Anchors
    numbers: Mapping[str, int]
    """The position of each rule in the columns that follow, by its id."""
    files: Sequence[str]
    lines: Sequence[int | None]
    ends: Sequence[int]
    """Where each rule ends, counted from the beginning of the first."""
    derived: Sequence[str]
    """The ids of rules that have conditions alone."""
    data: bytes | mmap
    body: int
    """Where the first rule begins in ``data``."""

    def place(self, rule_id: str) -> Place:
        """Where a rule is."""
        at = self.numbers[rule_id]
        return Place(self.files[at] or None, self.lines[at], self.ends[at - 1] if at else 0, self.ends[at])

    def raw(self, rule_id: str) -> dict[str, Any]:
        """What was written of a rule."""
        place = self.place(rule_id)
        return dict(json.loads(self.data[self.body + place.begin : self.body + place.end]))


def packed(rules: Iterable[Mapping[str, Any]]) -> bytes:
    """A pack of the checked raw mappings ``rules``.

    Raises:
        RuleError: when an anchor or a name has the signs in it that keep them apart.
    """
    from triage.rules.patterns import needs
    from triage.rules.windows import choose, ordinary

    rules = list(rules)
    # facts that many lines carry are sampled: their anchors are looked for as they are
    rare = (raw for raw in rules if not (raw.get("signature") or {}).get("frequent"))
    windows = choose((anchor.lower() for raw in rare for anchor in raw["_anchors"]), ordinary())
    anchors: dict[str, tuple[str, bool, list[str]]] = {}
    ends: list[int] = []
    derived: list[str] = []
    body = bytearray()
    for raw in rules:
        signature = raw.get("signature") or {}
        for anchor in raw["_anchors"]:
            literal = anchor.lower()
            window, sampled, ids = anchors.get(literal, (windows.get(literal, literal), True, []))
            if raw["id"] not in ids:
                ids.append(raw["id"])
            anchors[literal] = (window, sampled and bool(signature.get("frequent")), ids)
        kept = {key: value for key, value in raw.items() if not key.startswith("_")}
        patterns = signature.get("patterns") or ()
        if patterns:
            kept[NEEDS] = [needs(pattern) for pattern in patterns]
        body += json.dumps(kept, separators=(",", ":"), ensure_ascii=False).encode()
        ends.append(len(body))
        if not signature and raw.get("when"):
            derived.append(raw["id"])
    ordered = sorted(anchors.items())
    columns = _columns(
        [literal for literal, _ in ordered],
        [window for _, (window, _, _) in ordered],
        [" ".join(ids) for _, (_, _, ids) in ordered],
        [raw["id"] for raw in rules],
        [raw.get("_path") or "" for raw in rules],
        derived,
    )
    index = {
        "engine": ENGINE_VERSION,
        "columns": len(columns),
        "sampled": [at for at, (_, (_, sampled, _)) in enumerate(ordered) if sampled],
        "lines": [raw.get("_line") for raw in rules],
        "ends": ends,
    }
    return json.dumps(index, separators=(",", ":")).encode() + b"\n" + columns + bytes(body)


def _columns(*columns: Sequence[str]) -> bytes:
    for word in (word for column in columns for word in column):
        if _COLUMN in word or _WORD in word:
            raise RuleError(f"control characters 30 and 31 may not stand in {word!r}")
    return _COLUMN.join(_WORD.join(column) for column in columns).encode()


def unpacked(name: str, data: bytes | mmap) -> Pack:
    """The pack in ``data``.

    Raises:
        ValueError, KeyError, TypeError: when it is none.
    """
    begin = data.find(b"\n") + 1
    index = json.loads(data[:begin])
    if not begin or index["engine"] != ENGINE_VERSION:
        raise ValueError("not a pack of this version")
    body = begin + index["columns"]
    columns = data[begin:body].decode().split(_COLUMN)
    literals, windows, rules, ids, files, derived = (
        column.split(_WORD) if column else [] for column in columns
    )
    anchors = Anchors(literals, windows, rules, frozenset(index["sampled"]))
    numbers = {rule_id: at for at, rule_id in enumerate(ids)}
    return Pack(name, anchors, numbers, files, index["lines"], index["ends"], derived, data, body)
