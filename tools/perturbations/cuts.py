"""Less of a log, or more of it, as long as what decides stays."""

from __future__ import annotations

import random
import re

from perturbations.job import Job, clock_of, kind, lined, unlined

_COUNTS = re.compile(r"(?i)\b(?:step|iter|iteration|epoch|batch)\b")
_COMPARES_RANKS = {"straggler-or-hang", "collective-desync", "watchdog-too-short"}
"""Which rank is behind is told by the lines that it lacks."""
_RAISED = re.compile(r"\b\w+(?:Error|Exception)\b: ")
"""What tells by itself that something failed: of other decisive lines only what follows shows it."""


@kind("cut-start")
def cut_start(job: Job, rng: random.Random) -> Job | None:
    """A viewer's last lines: the first 10 to 40 % are gone, but nothing near what decides."""
    if len(job.texts) != 1 or job.others or not job.failed:
        return None
    ((name, text),) = job.texts.items()
    lines = lined(text)
    first = _first_trouble(job, lines)
    at = min(int(len(lines) * rng.uniform(0.1, 0.4)), first - 10)
    if at < 3:
        return None
    return job.changed({name: unlined(lines[at:], text)}, rank_may_be_lost=True)


@kind("cut-end")
def cut_end(job: Job, rng: random.Random) -> Job | None:
    """A buffer that was lost, or a log that was read early: some lines below what decides it breaks off."""
    compared = _COMPARES_RANKS & set(job.expected.get("category") or ())
    if len(job.texts) != 1 or job.others or not job.failed or compared:
        return None
    ((name, text),) = job.texts.items()
    lines = lined(text)
    decisive = job.decisive(lines)
    if decisive is None or decisive + 25 >= len(lines) or not _RAISED.search(lines[decisive]):
        return None
    at = decisive + 1 + rng.randrange(4, 20)
    return job.changed({name: unlined(lines[:at], text)}, rank_may_be_lost=True)


@kind("thinned")
def thinned(job: Job, rng: random.Random) -> Job | None:
    """A collector that drops under load: a third of the lines that are a record each, and far from what decides, are gone."""
    if job.others or _COMPARES_RANKS & set(job.expected.get("category") or ()):
        return None
    texts = {}
    for name, text in job.texts.items():
        lines = lined(text)
        records = [clock_of(line) is not None or bool(_COUNTS.search(line)) for line in lines]
        until = min(_first_trouble(job, lines), len(lines)) - 12
        texts[name] = unlined(
            [
                line
                for i, line in enumerate(lines)
                if i >= until or not records[i] or not records[i + 1] or rng.random() > 1 / 3
            ],
            text,
        )
    return job.changed(texts, rank_may_be_lost=True) if texts != job.texts else None


@kind("doubled")
def doubled(job: Job, rng: random.Random) -> Job | None:
    """A logger with two handlers: each record of one line stands twice."""
    if job.others:
        return None

    def twice(text: str) -> str:
        lines = lined(text)
        stamped = [clock_of(line) is not None for line in lines] + [True]
        return unlined(
            [copy for i, line in enumerate(lines) for copy in [line] * (1 + (stamped[i] and stamped[i + 1]))],
            text,
        )

    changed = job.each(twice)
    return changed if changed.texts != job.texts else None


def _first_trouble(job: Job, lines: list[str]) -> int:
    """The index of the first line that what decides stands in, or that complains."""
    decisive = job.decisive(lines)
    alarming = re.compile(r"Traceback|(?i:error|fail|abort|killed|timeout|timed out|fatal|warn|nan\b)")
    first = next((i for i, line in enumerate(lines) if alarming.search(line)), len(lines))
    return min(first, len(lines) if decisive is None else decisive)
