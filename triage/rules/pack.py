"""Checked rules in the form that they are kept in: what every run needs first, each rule when it is asked for.

A pack is one line of JSON, the index, and after it the rules themselves, each as JSON: a job meets a few
dozen of a thousand rules, and reading them all would take longer than answering.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triage.rules.schema import ENGINE_VERSION

NEEDS = "_needs"
"""Key under which a rule keeps what its patterns need."""
Needs = Sequence[Sequence[str]]
"""Sets of literals, of each of which every match of a pattern contains one."""


@dataclass(slots=True, eq=False, repr=False)
class Pack:
    """The rules of one place."""

    name: str
    anchors: Mapping[str, tuple[str, bool, Sequence[str]]]
    """For each anchor its window, whether all of its rules are content with samples, and their ids."""
    places: Mapping[str, tuple[str | None, int | None, bool, int, int]]
    """For each rule its file and line, whether it has conditions alone, and where it is in ``body``."""
    body: bytes

    def raw(self, rule_id: str) -> dict[str, Any]:
        """What was written of a rule."""
        _, _, _, begin, end = self.places[rule_id]
        return dict(json.loads(self.body[begin:end]))


def packed(rules: Iterable[Mapping[str, Any]]) -> bytes:
    """A pack of the checked raw mappings ``rules``."""
    from triage.rules.patterns import needs
    from triage.rules.windows import choose, ordinary

    rules = list(rules)
    # facts that many lines carry are sampled: their anchors are looked for as they are
    rare = (raw for raw in rules if not (raw.get("signature") or {}).get("frequent"))
    windows = choose((anchor.lower() for raw in rare for anchor in raw["_anchors"]), ordinary())
    anchors: dict[str, tuple[str, bool, list[str]]] = {}
    places: dict[str, tuple[str | None, int | None, bool, int, int]] = {}
    body = bytearray()
    for raw in rules:
        signature = raw.get("signature") or {}
        for anchor in raw["_anchors"]:
            literal = anchor.lower()
            window, sampled, ids = anchors.get(literal, (windows.get(literal, literal), True, []))
            if raw["id"] not in ids:
                ids.append(raw["id"])
            anchors[literal] = (window, sampled and bool(signature.get("frequent")), ids)
        begin = len(body)
        kept = {key: value for key, value in raw.items() if not key.startswith("_")}
        patterns = signature.get("patterns") or ()
        if patterns:
            kept[NEEDS] = [needs(pattern) for pattern in patterns]
        body += json.dumps(kept, separators=(",", ":"), ensure_ascii=False).encode()
        conditions = not signature and bool(raw.get("when"))
        places[raw["id"]] = (raw.get("_path"), raw.get("_line"), conditions, begin, len(body))
    index = {"engine": ENGINE_VERSION, "anchors": dict(sorted(anchors.items())), "places": places}
    return json.dumps(index, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" + bytes(body)


def unpacked(name: str, data: bytes) -> Pack:
    """The pack in ``data``.

    Raises:
        ValueError, KeyError, TypeError: when it is none.
    """
    head, newline, body = data.partition(b"\n")
    index = json.loads(head)
    if not newline or index["engine"] != ENGINE_VERSION:
        raise ValueError("not a pack of this version")
    return Pack(name, index["anchors"], index["places"], body)
