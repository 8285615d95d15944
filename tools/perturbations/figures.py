"""Numbers that mean nothing for what failed: steps, losses, rates."""

from __future__ import annotations

import random
import re

from perturbations.job import Job, kind

_STEP = re.compile(r"(?i)(\b(?:global_?)?(?:step|iter|iteration)[ :=]+)(\d{1,6})(?![\d.,/%]| ?/|\w)")
_LOSS = re.compile(r"(?i)(\b(?:train_)?loss[ :=]+)(\d+\.\d+)\b")
_RATE = re.compile(r"(?i)(\b(?:grad_?norm|lr|tok/s|tokens/s|throughput)[ :=]+)(\d+\.\d+)(?![\de])")


@kind("losses")
def losses(job: Job, rng: random.Random) -> Job | None:
    """Another model's loss and rates: scaled by one factor."""
    by = rng.choice([0.37, 0.81, 1.9, 7.3])

    def scaled(match: re.Match[str]) -> str:
        digits = len(match[2].partition(".")[2])
        return f"{match[1]}{float(match[2]) * by:.{digits}f}"

    changed = job.each(lambda text: _RATE.sub(scaled, _LOSS.sub(scaled, text)))
    return (
        changed
        if changed.texts != job.texts and "numerics" not in (job.expected.get("category") or ())
        else None
    )


@kind("steps")
def steps(job: Job, rng: random.Random) -> Job | None:
    """A run that was resumed: all counted steps are later by the same number."""
    joined = "\n".join(job.texts.values())
    if (
        job.others
        or len(_STEP.findall(joined)) < 3
        or re.search(r"(?i)(?:steps|epochs|max_\w+)[ :=]+\d|step_\d|step-\d|/\d+\]", joined)
    ):
        return None
    by = rng.choice([1000, 20000])
    moved = lambda m: f"{m[1]}{int(m[2]) + by}"  # noqa: E731
    from perturbations.names import everywhere

    return everywhere(job, lambda text: _STEP.sub(moved, text))
