"""Lines of the ends of logs after which nothing ordinary follows: what was said last, and was not answered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

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
    moved: dict[str, dict[int | None, int]] = defaultdict(dict)
    for fact in ("alive", "answered", "progress"):
        for item in job.of_fact(fact):
            for shown in item.finding.evidence:
                ranks = moved[shown.path]
                ranks[item.rank] = max(ranks.get(item.rank, 0), shown.line or 0)
    kernel = [
        (item.finding.source, range(item.number("first") or 0, (item.number("last") or 0) + 2))
        for item in job.of_fact("kernel-log")
    ]
    left = [
        (index, shown) for index, shown in lines
        if (shown.line or 0) > _answered(job, index, shown, moved[shown.path])
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


_FEWEST = 3
"""Ranks that tell of their work each for himself."""


def _answered(job: Job, index: int, shown: Evidence, moved: Mapping[int | None, int]) -> int:
    """The last line that may answer ``shown``: where each rank tells of its work, others' does not answer a rank's error."""
    prefix = job.parts(index, shown.text.partition("\n")[0])[0]
    if prefix.rank in moved and prefix.level in {"error", "fatal"} and len(moved.keys() - {None}) >= _FEWEST:
        return max(moved[prefix.rank], moved.get(None, 0))
    return max(moved.values(), default=0)


def _stream(job: Job, index: int, shown: Evidence) -> str:
    """Who wrote a line, by all that is known of its log."""
    return job.parts(index, shown.text.partition("\n")[0])[0].stream
