"""What the terminal report adds when it is asked to explain itself, or to leave nothing out."""

from __future__ import annotations

from triage.model import Diagnosis, Event
from triage.report import ledger, words
from triage.report.layout import Page

_TIMELINE = 40
"""Events shown of a timeline; the middle of a longer one is left out."""


def explain(page: Page, diagnosis: Diagnosis) -> None:
    """Put the rank ledger, the argument, why the runner-up lost and the timeline on the page."""
    _ranks(page, diagnosis)
    root = diagnosis.root_cause
    reasons = root.reasons if root else ()
    said = "\n".join(diagnosis.reasoning)
    reasoning = (*diagnosis.reasoning, *(text for text in reasons if text not in said))
    if reasoning:
        page.heading("Why")
        for number, text in enumerate(reasoning, 1):
            page.item(text, bullet=f"{number}.")
    for other in diagnosis.alternatives[:1]:
        if other.reasons:
            page.heading(f"Why not {other.category} ({other.rule_id})")
            for text in other.reasons:
                page.item(text)
    _timeline(page, diagnosis)


def list_everything(page: Page, diagnosis: Diagnosis) -> None:
    """Put all findings, sources and references on the page."""
    if diagnosis.findings:
        page.heading("Findings")
        names = words.short_names(diagnosis)
        rows = [["count", "role", "rule", "ranks", "first seen"]]
        for group in diagnosis.findings:
            first = group.evidence[0] if group.evidence else None
            where = "" if first is None else names.get(first.path, first.path)
            where += f":{first.line}" if first and first.line else ""
            count = f"{group.count}{'+' if group.sampled else ''}"
            rows.append([count, group.role, group.rule_id, words.numbers(group.ranks), where])
        page.columns(rows, right=[0], optional=[4, 3, 1])
    if diagnosis.sources:
        page.heading("Sources")
        rows = [["lines", "bytes", "kind", "source"]]
        for source in diagnosis.sources:
            remark = source.note or ("" if source.complete else "not read to the end")
            name = f"{source.name} ({remark})" if remark else source.name
            lines = "" if source.lines is None else f"{source.lines:,}"
            rows.append([lines, f"{source.bytes_read:,}", source.kind, name])
        page.columns(rows, right=[0, 1])
    root = diagnosis.root_cause
    if root is not None and root.references:
        page.heading("References")
        for reference in root.references:
            page.verbatim(reference, 2, "path")


def _ranks(page: Page, diagnosis: Diagnosis) -> None:
    if not diagnosis.ranks:
        return
    root = diagnosis.root_cause
    origin = () if root is None else root.origin.ranks or (root.origin.rank,)
    marked = [rank for rank in origin if rank is not None]
    rows, right = ledger.table(diagnosis.ranks, page.width - 2, marked)
    page.heading("Ranks (* where it began)" if marked else "Ranks")
    page.columns(rows, right=right)


def _timeline(page: Page, diagnosis: Diagnosis) -> None:
    entries = _folded(diagnosis.timeline)
    if not entries:
        return
    page.heading("Timeline")
    half = _TIMELINE // 2
    shown = entries if len(entries) <= _TIMELINE else entries[:half] + entries[-half:]
    names = words.short_names(diagnosis)
    wide = max(len(words.time(events[0].time)) for events in shown)
    for number, events in enumerate(shown):
        if number == half and len(shown) < len(entries):
            page.item((f"{len(entries) - len(shown)} more between", "faint"), bullet="…")
        first = events[0]
        when = f"{words.time(first.time):<{wide}}  " if wide else ""
        where = words.ranks(e.rank for e in events if e.rank is not None) or words.short(first.host)
        times = f" ({len(events)} ×)" if len(events) > max(1, len({e.rank for e in events})) else ""
        line = "" if first.line is None else f":{first.line}"
        page.paragraph(
            (when, "faint"),
            (f"{where}: " if where else "", "strong"),
            (first.what + times, ""),
            (f"  {names.get(first.path, first.path)}{line}", "path"),
            indent=2,
            hanging=2 + (len(when) or 2),
        )


def _folded(events: tuple[Event, ...]) -> list[list[Event]]:
    """Runs of events that say the same."""
    runs: list[list[Event]] = []
    for event in events:
        if runs and runs[-1][0].what == event.what and (event.rank is None) == (runs[-1][0].rank is None):
            runs[-1].append(event)
        else:
            runs.append([event])
    return runs
