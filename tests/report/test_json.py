"""The JSON form: the schema holds, nothing is missing, nothing unsafe gets out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from triage.model import Diagnosis, Evidence, Hypothesis, Origin
from triage.report.json import render, to_dict

from .diagnoses import TOKEN

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "schema" / "diagnosis.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

CASES = ["oom", "hardware", "large", "healthy", "inconclusive", "hostile"]


@pytest.fixture(params=CASES)
def diagnosis(request: pytest.FixtureRequest) -> Diagnosis:
    value = request.getfixturevalue(request.param)
    assert isinstance(value, Diagnosis)
    return value


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_diagnosis_keeps_to_the_schema(diagnosis: Diagnosis) -> None:
    VALIDATOR.validate(to_dict(diagnosis))


def test_text_and_dict_say_the_same(diagnosis: Diagnosis) -> None:
    assert json.loads(render(diagnosis)) == to_dict(diagnosis)


def test_no_control_characters_and_no_secrets(diagnosis: Diagnosis) -> None:
    def strings(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [s for item in value.items() for part in item for s in strings(part)]
        if isinstance(value, list):
            return [s for item in value for s in strings(item)]
        return [value] if isinstance(value, str) else []

    for text in strings(to_dict(diagnosis)):
        assert not any((ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 for c in text)
        assert "\u202e" not in text
        assert TOKEN not in text
        assert len(text.encode()) <= 4096
    assert TOKEN not in render(diagnosis)


def described(schema: dict[str, Any], value: Any, where: str) -> None:
    """Every key of ``value`` is described by ``schema``, and every described key is required."""
    if "$ref" in schema:
        described(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], value, where)
    elif "anyOf" in schema and isinstance(value, dict):
        described(schema["anyOf"][0], value, where)
    elif isinstance(value, dict) and "properties" in schema:
        assert set(value) == set(schema["properties"]) == set(schema["required"]), where
        assert list(value) == list(schema["properties"]), where
        assert schema["additionalProperties"] is True
        for key, item in value.items():
            described(schema["properties"][key], item, f"{where}.{key}")
    elif isinstance(value, list):
        for item in value:
            described(schema.get("items", {}), item, f"{where}[]")


def test_the_schema_names_every_key_in_order(diagnosis: Diagnosis) -> None:
    described(SCHEMA, to_dict(diagnosis), "")


def test_the_documentation_names_every_field() -> None:
    text = (DOCS / "json.md").read_text("utf-8")
    for name, definition in {"The document": SCHEMA, **SCHEMA["$defs"]}.items():
        if "properties" not in definition:
            continue
        section = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        for field in definition["properties"]:
            assert f"| `{field}` |" in section, f"{name}.{field}"


def test_unknown_is_null_and_never_left_out() -> None:
    data = to_dict(Diagnosis("inconclusive", None, None))
    VALIDATOR.validate(data)
    assert data["root_cause"] is None
    assert data["completed"] is None
    assert data["fingerprint"] is None
    assert data["alternatives"] == data["findings"] == data["attempts"] == []


def test_steps_are_numbered_and_owned(hardware: Diagnosis) -> None:
    steps = to_dict(hardware)["root_cause"]["remediation"]
    assert [step["step"] for step in steps] == [1, 2, 3]
    assert [step["owner"] for step in steps] == ["operator", "operator", "vendor"]


def test_not_a_number_becomes_null(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    root = replace(
        oom.root_cause,
        confidence=float("nan"),
        evidence=(Evidence("x", None, "x", {"a": float("inf"), "b": (float("nan"), 1.5)}),),
    )
    data = to_dict(replace(oom, root_cause=root))
    VALIDATOR.validate(data)
    assert data["root_cause"]["evidence"][0]["fields"] == {"a": None, "b": [None, 1.5]}
    assert data["root_cause"]["confidence"] == 0.0


def test_the_value_of_a_secret_field_is_masked(oom: Diagnosis) -> None:
    fields = to_dict(oom)["root_cause"]["evidence"][0]["fields"]
    assert fields == {"requested": 2147483648, "free": 1406611456, "token": "***"}


def test_the_span_still_points_at_the_decisive_characters(oom: Diagnosis) -> None:
    piece = to_dict(oom)["root_cause"]["evidence"][0]
    assert piece["text"][slice(*piece["span"])] == "CUDA out of memory. Tried to allocate 2.00 GiB"


TEXT = st.text(st.characters(), max_size=30)


@settings(max_examples=50, deadline=None)
@given(TEXT, TEXT, st.dictionaries(TEXT, st.none() | TEXT | st.floats() | st.integers(), max_size=3))
def test_any_text_gives_valid_json(summary: str, host: str, fields: dict[str, Any]) -> None:
    root = Hypothesis(
        rule_id="a.b", title=summary, category="unknown", phase=None, confidence=0.5, summary=summary,
        origin=Origin(host=host), evidence=(Evidence(host, 1, summary, fields, (0, 3)),), explains=(),
        owner="user",
        remediation=(), does_not_help=(), retry="unknown",
    )  # fmt: skip
    data = json.loads(render(Diagnosis("failed", False, root)))
    VALIDATOR.validate(data)
