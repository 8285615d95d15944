"""The published form of a diagnosis: ``docs/schema/diagnosis.schema.json``, explained in ``docs/json.md``.

Every documented key is always present and null when unknown. Strings are safe to show: no control
characters other than tabs and line feeds, no secrets. Numbers are finite.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from triage.model import (
    Attempt,
    Diagnosis,
    Event,
    Evidence,
    FindingGroup,
    Hypothesis,
    Origin,
    RankState,
    SourceReport,
)
from triage.report.cleaning import clean

SCHEMA_VERSION = "1.0"


def render(diagnosis: Diagnosis) -> str:
    """``diagnosis`` as indented JSON, keys in the order of the schema."""
    return json.dumps(to_dict(diagnosis), indent=2, ensure_ascii=False, allow_nan=False)


def to_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """``diagnosis`` as dicts, lists, strings, finite numbers, booleans and None."""
    diagnosis = clean(diagnosis)
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": diagnosis.verdict,
        "completed": diagnosis.completed,
        "warnings": [_hypothesis(h) for h in diagnosis.warnings],
        "notes": list(diagnosis.notes),
        "root_cause": _hypothesis(diagnosis.root_cause) if diagnosis.root_cause else None,
        "fingerprint": diagnosis.fingerprint,
        "alternatives": [_hypothesis(h) for h in diagnosis.alternatives],
        "findings": [_group(group) for group in diagnosis.findings],
        "ranks": [_flat(state) for state in diagnosis.ranks],
        "attempts": [_attempt(attempt) for attempt in diagnosis.attempts],
        "timeline": [_flat(event) for event in diagnosis.timeline],
        "sources": [_flat(source) for source in diagnosis.sources],
        "reasoning": list(diagnosis.reasoning),
        "stats": _value(diagnosis.stats),
    }


def _hypothesis(h: Hypothesis) -> dict[str, Any]:
    return {
        "rule_id": h.rule_id,
        "title": h.title,
        "category": h.category,
        "phase": h.phase,
        "confidence": round(h.confidence, 4),
        "summary": h.summary,
        "origin": _flat(h.origin),
        "evidence": [_evidence(e) for e in h.evidence],
        "explains": list(h.explains),
        "owner": h.owner,
        "remediation": [
            {
                "step": number,
                "do": step.do,
                "run": step.run,
                "verify": step.verify,
                "owner": step.owner or h.owner,
            }
            for number, step in enumerate(h.remediation, 1)
        ],
        "does_not_help": [{"do": d.do, "why": d.why} for d in h.does_not_help],
        "retry": h.retry,
        "nodes_to_avoid": list(h.nodes_to_avoid),
        "references": list(h.references),
        "reasons": list(h.reasons),
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "path": evidence.path,
        "line": evidence.line,
        "text": evidence.text,
        "fields": _value(evidence.fields),
        "span": list(evidence.span) if evidence.span else None,
    }


def _group(group: FindingGroup) -> dict[str, Any]:
    return {
        "rule_id": group.rule_id,
        "title": group.title,
        "role": group.role,
        "category": group.category,
        "count": group.count,
        "sampled": group.sampled,
        "ranks": list(group.ranks),
        "evidence": [_evidence(e) for e in group.evidence],
        "explained_by": group.explained_by,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "verdict": attempt.verdict,
        "root_cause": _hypothesis(attempt.root_cause) if attempt.root_cause else None,
        "began": attempt.began,
        "ended": attempt.ended,
    }


def _flat(item: Origin | RankState | Event | SourceReport) -> dict[str, Any]:
    """A noun whose fields are plain values, under their own names."""
    return {name: _value(value) for name, value in item._asdict().items()}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _value(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_value(item) for item in value]
    return value
