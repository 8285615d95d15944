"""The published form of a diagnosis: ``docs/schema/diagnosis.schema.json``, explained in ``docs/json.md``.

Every documented key is always present and null when unknown. Strings are safe to show: no control
characters, no secrets. Numbers are finite.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields as fields_of
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
from triage.text import MASK, is_secret_name, safe, safe_span

SCHEMA_VERSION = "1.0"


def render(diagnosis: Diagnosis) -> str:
    """``diagnosis`` as indented JSON, keys in the order of the schema."""
    return json.dumps(to_dict(diagnosis), indent=2, ensure_ascii=False, allow_nan=False)


def to_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """``diagnosis`` as dicts, lists, strings, finite numbers, booleans and None."""
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": diagnosis.verdict,
        "completed": diagnosis.completed,
        "warnings": [_hypothesis(h) for h in diagnosis.warnings],
        "notes": _texts(diagnosis.notes),
        "root_cause": _hypothesis(diagnosis.root_cause) if diagnosis.root_cause else None,
        "fingerprint": _text(diagnosis.fingerprint),
        "alternatives": [_hypothesis(h) for h in diagnosis.alternatives],
        "findings": [_group(group) for group in diagnosis.findings],
        "ranks": [_flat(state) for state in diagnosis.ranks],
        "attempts": [_attempt(attempt) for attempt in diagnosis.attempts],
        "timeline": [_flat(event) for event in diagnosis.timeline],
        "sources": [_flat(source) for source in diagnosis.sources],
        "reasoning": _texts(diagnosis.reasoning),
        "stats": _mapping(diagnosis.stats),
    }


def _hypothesis(h: Hypothesis) -> dict[str, Any]:
    return {
        "rule_id": _text(h.rule_id),
        "title": _text(h.title),
        "category": h.category,
        "phase": h.phase,
        "confidence": round(_number(h.confidence) or 0.0, 4),
        "summary": _text(h.summary),
        "origin": _flat(h.origin),
        "evidence": [_evidence(e) for e in h.evidence],
        "explains": _texts(h.explains),
        "owner": h.owner,
        "remediation": [
            {
                "step": number,
                "do": _text(step.do),
                "run": _text(step.run),
                "verify": _text(step.verify),
                "owner": step.owner or h.owner,
            }
            for number, step in enumerate(h.remediation, 1)
        ],
        "does_not_help": [{"do": _text(d.do), "why": _text(d.why)} for d in h.does_not_help],
        "retry": h.retry,
        "nodes_to_avoid": _texts(h.nodes_to_avoid),
        "references": _texts(h.references),
        "reasons": _texts(h.reasons),
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    text, span = safe_span(evidence.text, evidence.span)
    return {
        "path": _text(evidence.path),
        "line": evidence.line,
        "text": text,
        "fields": _mapping(evidence.fields),
        "span": list(span) if span else None,
    }


def _group(group: FindingGroup) -> dict[str, Any]:
    return {
        "rule_id": _text(group.rule_id),
        "title": _text(group.title),
        "role": group.role,
        "category": group.category,
        "count": group.count,
        "sampled": group.sampled,
        "ranks": list(group.ranks),
        "evidence": [_evidence(e) for e in group.evidence],
        "explained_by": _text(group.explained_by),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "verdict": attempt.verdict,
        "root_cause": _hypothesis(attempt.root_cause) if attempt.root_cause else None,
        "began": _text(attempt.began),
        "ended": _text(attempt.ended),
    }


def _flat(item: Origin | RankState | Event | SourceReport) -> dict[str, Any]:
    """A noun whose fields are plain values, under their own names."""
    return {field.name: _value(getattr(item, field.name)) for field in fields_of(item)}


def _mapping(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {
        safe(str(name)): MASK if isinstance(value, str) and is_secret_name(name) else _value(value)
        for name, value in mapping.items()
    }


def _value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, Iterable):
        return [_value(item) for item in value]
    return safe(str(value))


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _text(text: str | None) -> str | None:
    return None if text is None else safe(text)


def _texts(texts: Iterable[str]) -> list[str]:
    return [safe(text) for text in texts]
