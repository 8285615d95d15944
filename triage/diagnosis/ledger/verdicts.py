"""Verdicts: what was concluded, as findings of ``ledger.*`` rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triage.diagnosis.job import Item, Job
from triage.model import Evidence, Finding, Value
from triage.scan.prefix import split_line

SAID = "said"
"""The field of rules that repeat the last line of the rank at fault."""
_LONGEST = 120


def verdict(
    job: Job, rule_id: str, fields: Mapping[str, Value], witnesses: Sequence[Item], **known: Any
) -> Item:
    """A finding of a ledger rule, standing where its first witness stands."""
    rule, first = job.rules[rule_id], witnesses[0].finding
    if rule.signature is not None and SAID in rule.signature.fields and known.get("rank") is not None:
        fields = {SAID: parting(job, known["rank"]), **fields}
    evidence: list[Evidence] = []
    for witness in witnesses[:4]:
        evidence.extend(e for e in witness.finding.evidence[:1] if e not in evidence)
    finding = Finding(
        rule_id=rule_id, fields=fields, evidence=tuple(evidence), source=first.source, offset=first.offset,
        time=first.time, rank=known.get("rank"), host=known.get("host"), stream=first.stream,
        level="error",
    )  # fmt: skip
    return Item(finding, rule)


def parting(job: Job, rank: int) -> str | None:
    """What ``rank`` said last before trouble began, without its prefix; None where these logs hold nothing of it."""
    told = [i for fact in ("last-line", "oddity") for i in job.of_fact(fact) if i.rank == rank]
    last = max(told, key=lambda i: i.finding.offset, default=None)
    if last is None:
        return None
    line = last.finding.evidence[-1].text
    split = split_line(line) if job.split is None else job.split(last.finding.source, line)
    return " ".join(split[1].split())[:_LONGEST]
