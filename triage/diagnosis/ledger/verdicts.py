"""Verdicts: what was concluded, as findings of ``ledger.*`` rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triage.diagnosis.job import Item, Job
from triage.diagnosis.ledger.parting import own_words, said_alone, said_last
from triage.model import Evidence, Finding, Value

SAID = "said"
"""The field of rules that repeat the last line of the rank at fault."""


def verdict(
    job: Job, rule_id: str, fields: Mapping[str, Value], witnesses: Sequence[Item], **known: Any
) -> Item:
    """A finding of a ledger rule, standing where its first witness stands."""
    rule, first = job.rules[rule_id], witnesses[0].finding
    if rule.signature is not None and SAID in rule.signature.fields and known.get("rank") is not None:
        last = said_last(job, known["rank"]) or said_alone(job, known["rank"])
        fields = {SAID: None if last is None else own_words(job, last), **fields}
    evidence: list[Evidence] = []
    for witness in witnesses[:4]:
        evidence.extend(e for e in witness.finding.evidence[:1] if e not in evidence)
    finding = Finding(
        rule_id=rule_id, fields=fields, evidence=tuple(evidence), source=first.source, offset=first.offset,
        time=first.time, rank=known.get("rank"), host=known.get("host"), stream=first.stream,
        level="error",
    )  # fmt: skip
    return Item(finding, rule)
