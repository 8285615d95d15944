"""What the diagnosis is made from: everything that was read of one job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triage.model import Evidence, Finding, Source, SourceReport
from triage.rules.loader import RuleSet


@dataclass(frozen=True, slots=True)
class Run:
    """The input of :func:`triage.diagnosis.diagnose`.

    ``last_words`` holds, for each log source, the last lines that state an error in so many words;
    they are used when nothing else was recognised.
    """

    rules: RuleSet
    sources: Sequence[Source]
    findings: Sequence[Finding]
    reports: Sequence[SourceReport]
    receipt: Mapping[str, Any] | None = None
    notes: Sequence[str] = ()
    last_words: Sequence[tuple[int, Evidence]] = field(default_factory=tuple)
    alarms: Sequence[tuple[int, Evidence]] = field(default_factory=tuple)
    """Lines near the end with alarming words that no rule knows."""

    only_noise: bool = False
    """Whether the logs hold nothing but lines that rules know."""

    @property
    def cut(self) -> bool:
        """Whether some source was not read to its end."""
        return any(not report.complete for report in self.reports)

    @property
    def bytes_read(self) -> int:
        """Bytes over all sources, decompressed."""
        return sum(report.bytes_read for report in self.reports)
