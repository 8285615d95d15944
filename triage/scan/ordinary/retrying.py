"""Whether a log breaks off while somebody tries again and again what did not work: nothing tells that it ever did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triage.model import Block, Finding, Source
from triage.scan.closing.wordings import complains
from triage.scan.lazy import deferred
from triage.scan.ordinary.said import Said, finding_of, whole_lines, without_digits

RETRIES = "unknown.retries-to-the-end"
FEWEST = 3
"""Tries of one kind, with nothing ordinary between them."""
_END = 16 << 10
"""Bytes at an end in which they are looked for."""
_AGAIN = deferred(
    r"(?i)\b(?:re-?tr(?:y|ies|ying|ied)|tr(?:y|ies|ying) (?:it )?again|next (?:try|attempt)|attempt|back(?:ing)?[ -]?off|re-?connect\w*"
    r"|(?:sleep\w*|wait\w*|again) (?:for |in )?\d[\d.]* ?(?:s|secs?|seconds?|m|min\w*|ms)\b)"
)
"""How it is said that something is tried once more."""
_COUNTED = deferred(r"(?i)\b(?:re-?try|retries|attempt|try)[ #:=]{1,2}\d+ ?(?:/|of) ?\d+")
"""Which of so many tries it is: whatever comes of the first is said otherwise."""
_ASIDE = deferred(
    r"(?i)\b(?:metrics?|telemetry|traces?|spans?|otlp|wandb|api\.wandb\.ai|w&b|mlflow|tensorboard|comet|neptune|sentry|statsd|prometheus|logs?"
    r"|logfile|notifications?|slack|heartbeats?|health\w*|lock)\b"
)
"""What programs do without."""
_BELOW = deferred(
    r"\s|Traceback|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)\b|During handling|The above exception"
)
"""What a traceback consists of."""


def retrying(tails: Mapping[int, Block], sources: Sequence[Source]) -> Finding | None:
    """The last of several lines, to the end of a log, in which something is tried again; None where it does not end so."""
    for index, block in sorted(tails.items()):
        lines = [line for line in whole_lines(block, sources[index], index, _END) if line.text.strip()]
        run = _run(lines)
        if not run:
            continue
        last = run[-1]
        wording = without_digits(last.message)
        same = [line for line in run if without_digits(line.message) == wording]
        if len(same) >= FEWEST:
            words = " ".join(last.message.split())[:160]
            return finding_of(RETRIES, same[0], sources, {"words": words, "times": len(same)}, last=last)
    return None


def _run(lines: Sequence[Said]) -> list[Said]:
    """The lines at the end of which none tells of anything but trouble, if the last one says that something is tried again."""
    if not lines or not _tries(lines[-1]):
        return []
    run: list[Said] = []
    for line in reversed(lines):
        if not (_tries(line) or _complains(line) or _BELOW.match(line.message)):
            break
        run.append(line)
    return run[::-1]


def _tries(line: Said) -> bool:
    """Whether a line says that what did not work is tried again."""
    return (
        _AGAIN.search(line.message) is not None
        and _ASIDE.search(line.text) is None
        and (_complains(line) or _COUNTED.search(line.message) is not None)
    )


def _complains(line: Said) -> bool:
    return line.prefix.level in {"warning", "error"} or complains(line.message)
