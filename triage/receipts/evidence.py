"""What a receipt says that no single field states: findings of rules with ``reader: receipt``.

Its simple facts (one setting, one size) are read by the conditions of derived rules instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from triage.model import Evidence, Finding, Source, Value
from triage.receipts.memory import memory_findings
from triage.receipts.paths import path_findings
from triage.receipts.placement import adapter_findings
from triage.receipts.topology import topology_text
from triage.text import safe

NAME = "receipt"
"""How reports call the receipt where they name the source of a piece of evidence."""
OUTSIDE = -1
"""Source index of what the receipt says: it has no place among the logs, so no order either."""
SLOWER = 1.3
"""A later window of steps that takes this much longer than the first is a slowdown."""

Claim = tuple[str, Mapping[str, Value], str]
"""Rule id, fields, and the part of the receipt that supports it."""


def findings_of(receipt: Mapping[str, Any] | None) -> tuple[Finding, ...]:
    """The findings of one receipt, in a stable order."""
    if receipt is None:
        return ()
    return tuple(_finding(*claim) for part in _PARTS for claim in part(receipt))


def sources_of(receipt: Mapping[str, Any] | None) -> tuple[Source, ...]:
    """The texts that a receipt carries and that are read like any other: its topology matrix."""
    text = topology_text(receipt.get("topology")) if receipt is not None else ""
    if not text.strip():
        return ()
    host = receipt.get("host") if receipt is not None else None
    return (Source(f"{NAME}: topology", data=text.encode(), host=host if isinstance(host, str) else None),)


def _finding(rule_id: str, fields: Mapping[str, Value], text: str) -> Finding:
    known = {name: value for name, value in fields.items() if value is not None}
    return Finding(
        rule_id=rule_id,
        fields=known,
        evidence=(Evidence(NAME, None, safe(text), known),),
        source=OUTSIDE,
        offset=0,
    )


def _steps(receipt: Mapping[str, Any]) -> Iterator[Claim]:
    """Windows of steps: does a later one take longer than the first?"""
    given = receipt.get("step_window")
    windows = [w for w in (given if isinstance(given, list | tuple) else ()) if isinstance(w, Mapping)]
    timed = [w for w in windows if isinstance(w.get("mean_s"), int | float) and w["mean_s"] > 0]
    if len(timed) < 2:
        return
    timed.sort(key=lambda w: (w.get("first") or 0, w.get("last") or 0))
    first, last = timed[0], timed[-1]
    if last["mean_s"] >= SLOWER * first["mean_s"]:
        fields: dict[str, Value] = {
            "before": float(first["mean_s"]),
            "after": float(last["mean_s"]),
            "times": round(last["mean_s"] / first["mean_s"], 2),
            "first_step": first.get("first"),
            "last_step": last.get("last"),
        }
        yield "receipt.step-slowdown", fields, f"step_window: {_window(first)} … {_window(last)}"


def _window(window: Mapping[str, Any]) -> str:
    return f"steps {window.get('first', '?')}-{window.get('last', '?')} at {window['mean_s']:g} s"


def _preflight(receipt: Mapping[str, Any]) -> Iterator[Claim]:
    """Checks that had failed before the job began."""
    preflight = receipt.get("preflight")
    checks = preflight.get("checks") if isinstance(preflight, Mapping) else None
    failed = [
        check
        for check in (checks if isinstance(checks, list | tuple) else ())
        if isinstance(check, Mapping) and check.get("status") == "fail"
    ]
    if failed:
        shown = "; ".join(f"{c.get('name')}: {c.get('detail')}" for c in failed[:8])
        names = ", ".join(str(c.get("name")) for c in failed[:8])
        yield "receipt.preflight-failed", {"checks": names, "detail": shown}, f"preflight: {shown}"


_PARTS: tuple[Callable[[Mapping[str, Any]], Iterator[Claim]], ...] = (
    memory_findings,
    _steps,
    path_findings,
    adapter_findings,
    _preflight,
)
