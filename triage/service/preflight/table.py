"""A preflight as a table, worst first below it: what to do about each thing that is wrong."""

from __future__ import annotations

from triage.model import Step
from triage.service.preflight.model import Check, Report, Status
from triage.text import safe

_COUNTED: tuple[tuple[Status, str], ...] = (
    ("pass", "passed"),
    ("warn", "warned"),
    ("fail", "failed"),
    ("skip", "skipped"),
)
_WORDS = {"pass": "pass", "warn": "WARN", "fail": "FAIL", "skip": "skip"}


def render(report: Report) -> str:
    """The report as text: one line a check, then the steps for every warning and failure."""
    counts = ", ".join(f"{report.count(status)} {word}" for status, word in _COUNTED if report.count(status))
    lines = [f"preflight of {safe(report.host)}: {counts} ({report.seconds:.1f} s)", ""]
    width = max((len(check.name) for check in report.checks), default=0)
    lines += [f"  {_WORDS[c.status]}  {c.name:<{width}}  {_flat(c.detail)}" for c in report.checks]
    for status in ("fail", "warn"):
        for check in (c for c in report.checks if c.status == status and c.steps):
            lines += ["", f"{check.name}: {_flat(check.detail)}", *_steps(check)]
    lines += ["", _verdict(report)]
    return "\n".join(lines) + "\n"


def _flat(text: str) -> str:
    return " ".join(safe(text).split())


def _steps(check: Check) -> list[str]:
    lines: list[str] = []
    for number, step in enumerate(check.steps, 1):
        lines += _step(number, step)
    return lines


def _step(number: int, step: Step) -> list[str]:
    lines = [f"  {number}. {_flat(step.do)}" + (f" ({step.owner})" if step.owner else "")]
    if step.run:
        lines += [f"       $ {line}" for line in safe(step.run).splitlines() if line.strip()]
    if step.verify:
        lines.append(f"     then: {_flat(step.verify)}")
    return lines


def _verdict(report: Report) -> str:
    if report.exit_code == 3:
        return "There is nothing to check here: no GPU and no RDMA adapter."
    if report.count("fail"):
        return "This node is not fit for a job as it is."
    if report.count("warn"):
        return "This node can run a job; the warnings may cost time or explain a failure later."
    return "This node is fit for a job."
