"""Lines of the ends of logs after which nothing ordinary follows: what was said last, and was not answered."""

from __future__ import annotations

from collections.abc import Sequence

from triage.diagnosis.job import TROUBLE, Job
from triage.diagnosis.survival.going_on import hampered
from triage.model import Evidence
from triage.scan.lazy import compiled
from triage.scan.ordinary.routine import How

_SERVICE_GAVE_UP = (
    r"\b(?:slurmd|munged|kubelet|containerd|dockerd|nvidia-\w+|nv-\w+|openibd|opensm)(?:\[\d+\])?: (?:\w+: )?"
    r"(?i:fatal|panic|critical)\b"
)
"""Services without which no job runs: what ends them is more than a complaint."""


def unanswered(job: Job, lines: Sequence[tuple[int, Evidence]], how: How) -> list[tuple[int, Evidence]]:
    """Those of ``lines`` after which nothing ordinary follows in their source: no step, no line of level info.

    A kernel complains of much at every boot and has no end: only what rules know of it counts, and what ends
    a service that jobs need.
    """
    moved: dict[str, int] = {}
    for fact in ("alive", "answered", "progress"):
        for item in job.of_fact(fact):
            for shown in item.finding.evidence:
                moved[shown.path] = max(moved.get(shown.path, 0), shown.line or 0)
    kernel = [
        (item.finding.source, range(item.number("first") or 0, (item.number("last") or 0) + 2))
        for item in job.of_fact("kernel-log")
    ]
    left = [
        (index, shown) for index, shown in lines
        if (shown.line or 0) > moved.get(shown.path, 0)
        and (
            compiled(_SERVICE_GAVE_UP).search(shown.text)
            or not any(index == source and shown.line in where for source, where in kernel)
        )
    ]  # fmt: skip
    if job.resumed is None or any(job.of_tag(tag) for tag in ("rank-exit", "launcher-report")):
        return left
    if hampered(job, (item for tag in TROUBLE for item in job.of_tag(tag))):
        return left
    return [
        (index, shown) for index, shown in left
        if shown.line is None or job.resumed(index, _stream(job, index, shown), shown.line, how) is None
    ]  # fmt: skip


def _stream(job: Job, index: int, shown: Evidence) -> str:
    """Who wrote a line, by all that is known of its log."""
    return job.parts(index, shown.text.partition("\n")[0])[0].stream
