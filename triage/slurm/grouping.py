"""Many failures, few reports: one per array (or job) and fingerprint, one message per user and fingerprint."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triage.slurm.results import Result

MAX_LISTED = 50


@dataclass(frozen=True, slots=True)
class Group:
    """Jobs that failed in the same way; ``lead`` is the first of them and has the report."""

    lead: Result
    members: tuple[Result, ...]

    @property
    def name(self) -> str:
        """The report's name without suffix: ``triage-12_3``, ``triage-12-1a2b3c4d`` for several tasks."""
        job = self.lead.job
        if len(self.members) == 1:
            return f"triage-{job.display_id}"
        return f"triage-{job.array_job_id or job.job_id}-{short(self.lead.fingerprint)}"

    def reports(self) -> dict[str, bytes]:
        """The report in its formats, by suffix, naming all members."""
        if not self.lead.reports:
            return {}
        if len(self.members) == 1:
            return {suffix: text.encode() for suffix, text in self.lead.reports.items()}
        ids = [m.job.display_id for m in self.members]
        nodes = sorted({n for m in self.members for n in m.job.nodes})
        facts: dict[str, Any] = {
            "count": len(ids), "jobs": ids[:MAX_LISTED], "more": max(0, len(ids) - MAX_LISTED),
            "nodes": nodes[:MAX_LISTED],
        }  # fmt: skip
        found: dict[str, bytes] = {}
        for suffix, text in self.lead.reports.items():
            if suffix == ".json":
                found[suffix] = (
                    json.dumps({**json.loads(text), "group": facts}, ensure_ascii=False, indent=2) + "\n"
                ).encode()
            else:
                listed = ", ".join(ids[:MAX_LISTED]) + (f" and {facts['more']} more" if facts["more"] else "")
                head = (
                    f"**{len(ids)} jobs failed in the same way:** {listed}. The report is about {ids[0]}.\n\n"
                )
                found[suffix] = (head + text).encode()
        return found


def short(fingerprint: str) -> str:
    """The part of a fingerprint that fits into a file name."""
    return "".join(c for c in fingerprint if c.isalnum())[-8:] or "none"


def by_array(results: Iterable[Result]) -> list[Group]:
    """One group per user, array and fingerprint, the results in the order of their ids."""
    return _grouped(results, lambda r: (r.job.uid, r.job.array_job_id or r.job.job_id, r.fingerprint))


def by_user(results: Iterable[Result]) -> list[Group]:
    """One group per user and fingerprint."""
    return _grouped(results, lambda r: (r.job.uid, r.fingerprint))


def _grouped(results: Iterable[Result], key: Any) -> list[Group]:
    groups: dict[Any, list[Result]] = {}
    for result in sorted(
        results, key=lambda r: (r.job.array_job_id or r.job.job_id, r.job.array_task_id or 0)
    ):
        groups.setdefault(key(result), []).append(result)
    return [Group(_lead(members), tuple(members)) for members in groups.values()]


def _lead(members: Sequence[Result]) -> Result:
    return next((m for m in members if m.reports), members[0])


def message(group: Group, reports: Mapping[int, str | None]) -> dict[str, Any]:
    """What a command is told about a group."""
    return {
        **group.lead.decision,
        "jobs": [m.job.display_id for m in group.members[:MAX_LISTED]],
        "count": len(group.members),
        "report": reports.get(group.lead.job.job_id),
    }
