"""Several files of a job as one: concatenated, or as the processes wrote to one terminal."""

from __future__ import annotations

import random

from perturbations.job import Job, kind, lined, moments, unlined
from perturbations.prefixes import plain


@kind("cat")
def cat(job: Job, rng: random.Random) -> Job | None:
    """``cat *.log``: whose lines they are is lost where only the names of the files told it."""
    return _joined(job, "", rank_may_be_lost=True)


@kind("tail-heads")
def tail_heads(job: Job, rng: random.Random) -> Job | None:
    """``tail -n +1 *``."""
    return _joined(job, "==> {} <==\n")


@kind("grep-names")
def grep_names(job: Job, rng: random.Random) -> Job | None:
    """``grep "" *``: the file's name before each line."""
    if len(job.texts) < 2 or job.others:
        return None
    lines = [f"{name}:{line}" for name, text in sorted(job.texts.items()) for line in lined(text)]
    return job.changed({"all.txt": unlined(lines)})


@kind("srun-label")
def srun_label(job: Job, rng: random.Random) -> Job | None:
    """``srun -l``: the task's number before each line, in the order of time."""
    return _merged(job, rng, lambda rank, wide: f"{rank:{wide}}: ")


@kind("rank-label")
def rank_label(job: Job, rng: random.Random) -> Job | None:
    """One stream with ``[rankN]: `` before each line."""
    return _merged(job, rng, lambda rank, _: f"[rank{rank}]: ")


@kind("mpi-label")
def mpi_label(job: Job, rng: random.Random) -> Job | None:
    """``mpirun --tag-output``."""
    return _merged(job, rng, lambda rank, _: f"[1,{rank}]<stderr>: ")


@kind("torchrun-label")
def torchrun_label(job: Job, rng: random.Random) -> Job | None:
    """One node's stream with ``[defaultN]:`` before each line."""
    return _merged(job, rng, lambda rank, _: f"[default{rank}]:")


def _joined(job: Job, head: str, **more: bool) -> Job | None:
    if len(job.texts) < 2 or job.others or any("==> " in text for text in job.texts.values()):
        return None
    parts = [head.format(name) + unlined(lined(text)) for name, text in sorted(job.texts.items())]
    return job.changed({"all.log": ("\n" if head else "").join(parts)}, **more)


def _merged(job: Job, rng: random.Random, label: object) -> Job | None:
    """The files of ranks as one stream: in the order of time where all of them tell it, else chunk by chunk in turn."""
    ranks = job.ranked()
    if ranks is None or not plain(job) or not callable(label):
        return None
    wide = len(str(len(ranks) - 1))
    times = moments(job)
    dealt: list[tuple[float, int, int, str]] = []
    for name, text in job.texts.items():
        for number, line in enumerate(lined(text)):
            when = next(times[name]) if times else float(number // 4)
            dealt.append((when, ranks[name], number, label(ranks[name], wide) + line))
    return job.changed({"job.log": unlined([line for *_, line in sorted(dealt)])})
