"""The words of a preflight: checks, their outcome, and the report over all of them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from triage.model import Step
from triage.text import safe

Status = Literal["pass", "warn", "fail", "skip"]
"""``skip``: there is nothing of the kind here, or it could not be looked at."""

SCHEMA_VERSION = "1.0"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: its outcome, in words, and what to do when it is not a pass."""

    name: str
    status: Status
    detail: str
    steps: tuple[Step, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The check as plain values, safe to show."""
        return {
            "name": self.name,
            "status": self.status,
            "detail": safe(self.detail),
            "steps": [{k: safe(v) if v else v for k, v in step._asdict().items()} for step in self.steps],
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a preflight.

    ``facts`` are plain values (numbers of GPUs, bytes, versions) that rules read from a receipt.
    ``topology`` is the matrix as printed. ``found`` says whether there was a GPU or an adapter at all.
    """

    host: str
    checks: tuple[Check, ...]
    facts: Mapping[str, Any]
    topology: str = ""
    seconds: float = 0.0
    found: bool = True

    def count(self, status: Status) -> int:
        """How many checks ended so."""
        return sum(1 for check in self.checks if check.status == status)

    @property
    def exit_code(self) -> int:
        """0 nothing failed, 1 something failed, 3 there was nothing to check."""
        if self.count("fail"):
            return 1
        return 0 if self.found else 3

    def to_dict(self) -> dict[str, Any]:
        """The report as it stands under ``preflight`` in a receipt."""
        return {
            "schema_version": SCHEMA_VERSION,
            "host": self.host,
            "result": {0: "ok", 1: "problems", 3: "nothing-to-check"}[self.exit_code],
            "seconds": round(self.seconds, 1),
            "checks": [check.to_dict() for check in self.checks],
            "facts": dict(self.facts),
        }


@dataclass(slots=True)
class Node:
    """The node under test: where its files are, how much time is left, what is known so far."""

    budget: float
    root: Path = field(default_factory=lambda: Path("/"))
    began: float = field(default_factory=time.monotonic)
    checks: list[Check] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    topology: str = ""

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return max(0.0, self.began + self.budget - time.monotonic())

    def allow(self, most: float) -> float:
        """Seconds that one command may take."""
        return min(most, self.left)

    def add(self, name: str, status: Status, detail: str, *steps: Step) -> None:
        """Record the outcome of a check."""
        self.checks.append(Check(name, status, detail, steps))

    def read(self, path: str) -> str | None:
        """The text of a small file of the node, None when there is none to read."""
        try:
            with (self.root / path.lstrip("/")).open("rb") as stream:
                return stream.read(65536).decode("utf-8", "replace").strip()
        except (OSError, ValueError):
            return None

    def listed(self, path: str) -> list[str]:
        """The names in a directory of the node, sorted; none when it does not exist."""
        try:
            return sorted(entry.name for entry in (self.root / path.lstrip("/")).iterdir())
        except OSError:
            return []
