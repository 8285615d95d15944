"""Making every string of a diagnosis safe to show, once, before a format lays it out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from triage.model import Diagnosis, Evidence, Hypothesis
from triage.text import MASK, is_secret_name, safe, safe_span


def clean(diagnosis: Diagnosis) -> Diagnosis:
    """``diagnosis`` without control characters, secrets, or numbers that aren't finite (None instead).

    To be done before anything is cut or joined: half a secret can't be recognised any more.
    """
    cleaned: Diagnosis = _Cleaner().value(diagnosis)
    return cleaned


class _Cleaner:
    """Remembers what it has done: large jobs repeat host names and messages hundreds of times."""

    def __init__(self) -> None:
        self._strings: dict[str, str] = {}
        self._names: dict[type, tuple[str, ...]] = {}

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            if value not in self._strings:
                self._strings[value] = safe(value)
            return self._strings[value]
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, Evidence):
            text, span = safe_span(value.text, value.span)
            return Evidence(self.value(value.path), value.line, text, self._mapping(value.fields), span)
        if isinstance(value, Iterable) and not hasattr(value, "_fields"):
            return tuple(self.value(item) for item in value)
        return self._noun(value)

    def _noun(self, noun: Any) -> Any:
        if isinstance(noun, tuple):
            return type(noun)(*map(self.value, noun))
        kind = type(noun)
        if kind not in self._names:
            self._names[kind] = tuple(field.name for field in fields(noun))
        values = {name: self.value(getattr(noun, name)) for name in self._names[kind]}
        if kind is Hypothesis and values["confidence"] is None:
            values["confidence"] = 0.0
        return replace(noun, **values)

    def _mapping(self, mapping: Mapping[str, Any]) -> dict[str, Any]:
        return {
            self.value(str(name)): MASK
            if isinstance(value, str) and is_secret_name(str(name))
            else self.value(value)
            for name, value in mapping.items()
        }
