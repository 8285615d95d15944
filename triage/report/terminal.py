"""The report that an operator reads: the verdict first, then where, why and what to do, in order.

Written for any width from 40 columns on, and for pipes: without ``color`` it is plain text.
"""

from __future__ import annotations

from itertools import groupby

from triage.model import Attempt, Diagnosis, Hypothesis
from triage.report import excerpt, words
from triage.report.cleaning import clean
from triage.report.layout import Page, Part, Style, cut

_EVIDENCE = 4
"""Pieces of evidence shown unless the report is verbose."""
_EVIDENCE_ROWS, _FEWER_ROWS = 8, 4
"""Rows of the first of them, and of each other."""
_CASCADES = 6
_ALTERNATIVES = 3
_LABEL = 12

_VERDICTS: dict[str, Style] = {"failed": "bad", "healthy": "good", "inconclusive": "odd"}

_WANTED = "standard error of every rank, the kernel log (dmesg) of the nodes, sacct, flight-recorder dumps"


def render(
    diagnosis: Diagnosis,
    *,
    width: int = 80,
    color: bool = False,
    verbose: bool = False,
    explain: bool = False,
) -> str:
    """``diagnosis`` as text for a terminal of ``width`` columns.

    ``verbose`` shows all evidence, findings, sources and references; ``explain`` shows the rank
    ledger, the causal argument, why the runner-up lost, and the timeline. Commands and paths to copy
    are never wrapped, so they may be wider.
    """
    diagnosis = clean(diagnosis)
    page = Page(width, color)
    _headline(page, diagnosis)
    root = diagnosis.root_cause
    if root is not None:
        _facts(page, root)
        _evidence(page, root, verbose)
        _advice(page, root)
    if diagnosis.verdict == "inconclusive":
        _missing(page, diagnosis)
    _attempts(page, diagnosis)
    if root is not None:
        _cascades(page, diagnosis, verbose)
        _alternatives(page, diagnosis, verbose)
    _warnings(page, diagnosis, verbose)
    _notes(page, diagnosis)
    if explain or verbose:
        from triage.report import details  # not needed for the report that people see most

        if explain:
            details.explain(page, diagnosis)
        if verbose:
            details.list_everything(page, diagnosis)
    _footer(page, diagnosis)
    return page.render()


def _headline(page: Page, diagnosis: Diagnosis) -> None:
    verdict = diagnosis.verdict.upper()
    sentence = words.headline(diagnosis)
    what, colon, why = sentence.partition(": ")
    parts: list[Part] = [(what, "strong"), (colon + why, "")] if colon else [(sentence, "")]
    page.paragraph((verdict, _VERDICTS[diagnosis.verdict]), ("  ", ""), *parts, hanging=len(verdict) + 2)


def _facts(page: Page, root: Hypothesis) -> None:
    page.blank()
    _fact(page, "Who acts", words.who_acts(root))
    _fact(page, "Requeue", words.requeue(root))
    _fact(page, "Origin", words.origin_details(root.origin))
    if root.phase:
        _fact(page, "Phase", root.phase)
    _fact(page, "Confidence", words.confidence(root.confidence))


def _fact(page: Page, label: str, text: str) -> None:
    page.paragraph((label.ljust(_LABEL), "strong"), (text, ""), hanging=_LABEL)


def _evidence(page: Page, root: Hypothesis, verbose: bool) -> None:
    if not root.evidence:
        return
    page.heading("Evidence")
    shown = root.evidence if verbose else root.evidence[:_EVIDENCE]
    for number, evidence in enumerate(shown):
        limit = _FEWER_ROWS if number else _EVIDENCE_ROWS
        excerpt.show(page, evidence, 2, None if verbose else limit)
    _more(page, len(root.evidence) - len(shown), "piece", "of evidence")


def _advice(page: Page, root: Hypothesis) -> None:
    if root.remediation:
        page.heading("What to do")
    for number, step in enumerate(root.remediation, 1):
        bullet = f"{number}."
        indent = 2 + len(bullet) + 1
        actor = f"{step.owner}: " if step.owner and step.owner != root.owner else ""
        page.item((actor, "strong"), step.do, bullet=bullet)
        if step.run:
            page.verbatim(step.run, indent + 2, "command")
        if step.verify:
            page.paragraph(("verify: ", "faint"), (step.verify, "faint"), indent=indent, hanging=indent + 8)
    if root.does_not_help:
        page.heading("What does not help")
    for advice in root.does_not_help:
        page.item(f"{advice.do}: {advice.why}" if advice.why else advice.do)


def _cascades(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    groups = words.cascades(diagnosis)
    if not groups:
        return
    page.heading("What it explains")
    shown = groups if verbose else groups[:_CASCADES]
    wide = max(len(words.times(group)) for group in shown)
    for group in shown:
        page.item(words.told(group), bullet=words.times(group).rjust(wide))
    _more(page, len(groups) - len(shown), "kind", "of message")


def _alternatives(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    others = diagnosis.alternatives
    if not others:
        return
    page.heading("Less likely")
    shown = others if verbose else others[:_ALTERNATIVES]
    for other in shown:
        where = words.place(other.origin)
        text = f"{other.category}{' on ' + where if where else ''}: {other.title}"
        page.paragraph((f"{other.confidence:.2f}  {cut(text, 2 * page.width - 24)}", ""), indent=2, hanging=8)
    _more(page, len(others) - len(shown), "candidate", "")


def _attempts(page: Page, diagnosis: Diagnosis) -> None:
    if len(diagnosis.attempts) < 2:
        return
    page.heading("Attempts")
    for what, run in groupby(diagnosis.attempts, _came_to):
        alike = list(run)
        first, last = alike[0], alike[-1]
        number = f"{first.number}." if first is last else f"{first.number}-{last.number}."
        whole = first._replace(
            began=next((a.began for a in alike if a.began), None),
            ended=next((a.ended for a in reversed(alike) if a.ended), None),
        )
        page.item(f"{what}{words.period(whole)}", bullet=number)


def _came_to(attempt: Attempt) -> str:
    root = attempt.root_cause
    where = words.place(root.origin) if root else ""
    return attempt.verdict + (f": {root.category}{' on ' + where if where else ''}" if root else "")


def _warnings(page: Page, diagnosis: Diagnosis, verbose: bool) -> None:
    if not diagnosis.warnings:
        return
    page.heading("Warnings")
    for warning in diagnosis.warnings:
        where = words.place(warning.origin)
        head = f"{warning.category}{' on ' + where if where else ''}"
        page.item(f"{head}: {warning.summary or warning.title}")
        for evidence in warning.evidence if verbose else warning.evidence[:1]:
            excerpt.show(page, evidence, 4, None if verbose else 3)
        if verbose:
            for step in warning.remediation:
                page.item(step.do, indent=4)
                if step.run:
                    page.verbatim(step.run, 8, "command")


def _missing(page: Page, diagnosis: Diagnosis) -> None:
    page.heading("What was missing")
    unread = words.unread(diagnosis)
    for text in (*diagnosis.notes, *(line for line in unread if not _noted(line, diagnosis.notes))):
        page.item(text)
    if not diagnosis.notes and not unread:
        page.item("nothing in the input says how the job went")
    page.heading("Where to look next")
    page.item(_WANTED)


def _noted(line: str, notes: tuple[str, ...]) -> bool:
    return any(line in note or note in line for note in notes)


def _notes(page: Page, diagnosis: Diagnosis) -> None:
    if diagnosis.verdict == "inconclusive":
        return
    partly = [source.name for source in diagnosis.sources if not source.complete]
    if not diagnosis.notes and not partly:
        return
    page.heading("Notes")
    for note in diagnosis.notes:
        page.item(note)
    if partly:
        page.item(f"not read to the end: {words.shortened(partly)}")


def _more(page: Page, count: int, noun: str, rest: str) -> None:
    if count > 0:
        text = f"… {count} more {noun}{'s' if count > 1 else ''} {rest}".rstrip()
        page.paragraph((f"{text} (--verbose)", "faint"), indent=2)


def _footer(page: Page, diagnosis: Diagnosis) -> None:
    root = diagnosis.root_cause
    parts = [f"rule {root.rule_id}" if root else "", f"fingerprint {diagnosis.fingerprint or ''}"]
    shown = [part for part in parts if part.partition(" ")[2]]
    if shown:
        page.blank()
        page.paragraph((", ".join(shown), "faint"))
