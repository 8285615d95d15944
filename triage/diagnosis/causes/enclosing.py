"""Tracebacks that were torn: the exception around a nameless one, or the name of one that stands below."""

from __future__ import annotations

from triage.diagnosis.causes.candidates import Candidate
from triage.diagnosis.causes.explaining import nameless
from triage.diagnosis.causes.fallback import symptom_alone
from triage.diagnosis.causes.ranking import Ranking
from triage.diagnosis.causes.stated import (
    stated_exception,
    tells,
)
from triage.diagnosis.job import Job
from triage.diagnosis.ledger.ledger import Ledger
from triage.scan.lazy import compiled
from triage.scan.prefix import split_line


def carrier(job: Job, ledger: Ledger, ranking: Ranking) -> Candidate | None:
    """The exception that carries the text of another one, where the log breaks off before that one's name."""
    best = ranking.causes[0] if ranking.causes else None
    if best is None or not nameless(best):
        return None
    inner = best.lead.finding
    above = [
        item for item in job.items
        if item.finding.source == inner.source and item.finding.stream == inner.stream
        and item.finding.offset < inner.offset
    ]  # fmt: skip
    candidate = symptom_alone(job, ledger) if above else None
    if candidate is None:
        return None
    if any("carrier" in i.rule.tags and candidate.rule_id == i.rule.id for i in above):
        return candidate
    # an exception that has a name and is known tells more than one below it that lost its own
    named = any(
        i.rule.role == "symptom" and i.finding.raised and "launcher-report" not in i.rule.tags for i in above
    )
    return candidate if named else None


def named_below(job: Job, ledger: Ledger, ranking: Ranking) -> Candidate | None:
    """An exception's own line where all that is above it are tracebacks that others' lines broke.

    Processes that write at once into one file leave tracebacks without an end, and ends without a traceback.
    """
    best = ranking.causes[0] if ranking.causes else None
    if best is None or not all(nameless(c) for c in ranking.causes if c.explained_by is None):
        return None
    broken = best.lead.finding
    named = [
        (i, shown)
        for i in job.of_fact("mention")
        for shown in i.finding.evidence
        if i.finding.source == broken.source and i.finding.offset > broken.offset
        and compiled(r"^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): \S").match(split_line(shown.text)[1])
    ]  # fmt: skip
    known = {
        i.finding.offset for i in job.items
        if i.rule.role == "symptom" and i.finding.source == broken.source and "launcher-report" not in i.rule.tags
    }  # fmt: skip
    lines = {
        (e.path, e.line) for i in job.items if i.rule.role in {"symptom", "benign"} for e in i.finding.evidence
    }  # fmt: skip
    words = [(i.finding.source, shown) for i, shown in named if (shown.path, shown.line) not in lines]
    if not words and any(i.finding.offset in known for i, _ in named):
        return symptom_alone(job, ledger)  # a rule knows what it says
    found = stated_exception(job, [w for w in words if tells(w)])
    if found is not None:
        found.explains = [item for c in ranking.causes for item in c.items]
        found.reasons.append("the tracebacks above it are broken by lines of other processes")
    return found
