"""One line per diagnosis, for logs and for grep."""

from __future__ import annotations

from triage.model import Diagnosis, Hypothesis
from triage.report import words
from triage.report.cleaning import clean

LIMIT = 300
"""Characters that a line has at most."""
_MAX_PATH = 80
_MIN_SUMMARY = 20


def render(diagnosis: Diagnosis) -> str:
    """``diagnosis`` as ``VERDICT category key=value … "summary" path:line fp=…`` in one line.

    Parts that are unknown are left out. Values that hold spaces are quoted; the summary gives way
    when the line would get longer than ``LIMIT``.
    """
    diagnosis = clean(diagnosis)
    root = diagnosis.root_cause
    parts = [diagnosis.verdict.upper()]
    tail: list[str] = []
    if root is not None:
        parts += _facts(root)
        if root.evidence:
            first = root.evidence[0]
            path = first.path if len(first.path) <= _MAX_PATH else "…" + first.path[1 - _MAX_PATH :]
            tail.append(_value(path if first.line is None else f"{path}:{first.line}"))
    else:
        if diagnosis.completed is not None:
            parts.append(f"completed={str(diagnosis.completed).lower()}")
        warned = list(dict.fromkeys(warning.category for warning in diagnosis.warnings))
        if warned:
            parts.append(f"warnings={','.join(warned)}")
    if diagnosis.fingerprint:
        tail.append(f"fp={_value(diagnosis.fingerprint)}")
    room = LIMIT - len(" ".join((*parts, *tail))) - 3
    if room >= _MIN_SUMMARY:
        parts.append(f'"{_cut(_summary(diagnosis), room)}"')
    return _cut(" ".join((*parts, *tail)), LIMIT)


def _facts(root: Hypothesis) -> list[str]:
    origin = root.origin
    several = words.numbers(origin.ranks).replace(", ", ",") if len(origin.ranks) > 1 else None
    pairs = (
        ("rank", origin.rank if several is None else None),
        ("ranks", several),
        ("host", words.short(origin.host) or None),
        ("gpu", origin.gpu),
        ("pci", words.short(origin.pci_bus_id) or None if origin.gpu is None else None),
        ("retry", root.retry),
        ("confidence", f"{root.confidence:.2f}"),
        ("rule", root.rule_id),
    )
    return [root.category, *(f"{name}={_value(value)}" for name, value in pairs if value is not None)]


def _summary(diagnosis: Diagnosis) -> str:
    root = diagnosis.root_cause
    if root is not None:
        text = root.summary or root.title
    elif diagnosis.verdict == "inconclusive" and diagnosis.notes:
        text = diagnosis.notes[-1]  # what was skipped stands first, and why nothing can be said last
    elif diagnosis.warnings:
        text = diagnosis.warnings[0].summary or diagnosis.warnings[0].title
    else:
        text = words.headline(diagnosis)
    return " ".join(text.split()).replace('"', "'")


def _value(value: object) -> str:
    text = " ".join(str(value).split()).replace('"', "'")
    return f'"{text}"' if " " in text or not text else text


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
