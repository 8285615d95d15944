from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.errors import ExpressionError
from triage.rules.expressions import Expression


@pytest.mark.parametrize(
    ("text", "names", "value"),
    [
        ("a >= 8GiB", {"a": 9 << 30}, True),
        ("waited > 10min", {"waited": 599.0}, False),
        ("a - b", {"a": 5, "b": 2}, 3),
        ("a - b", {"a": 5}, None),
        ("a > b", {"a": 5}, None),
        ("state != 'x'", {}, None),
        ("state is not None", {}, False),
        ("op in ('ALLREDUCE', 'BROADCAST')", {"op": "BROADCAST"}, True),
        ("'5s' == name", {"name": "5s"}, True),
        ("a / b", {"a": 1, "b": 0}, None),
        ("1 < a < 3", {"a": 2}, True),
        ("max(a, b, 3)", {"a": 1, "b": None}, 3),
        ("matches(text, '^x.z')", {"text": "xyz"}, True),
        ("coalesce(a, b)", {"b": 4}, 4),
        ("'yes' if a else 'no'", {"a": 0}, "no"),
    ],
)
def test_values(text: str, names: dict[str, Any], value: Any) -> None:
    assert Expression(text).evaluate(names) == value


@pytest.mark.parametrize(
    "text",
    ["__import__('os').system('x')", "a.b", "lambda: 1", "[x for x in y]", "a ** b", "f'{a}'", "(", "a := 1",
     "x" * 3000],
)  # fmt: skip
def test_what_is_not_allowed_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        Expression(text)


def test_the_message_names_file_and_line() -> None:
    with pytest.raises(ExpressionError, match=r"rules/a\.yaml:7: .*Attribute isn't allowed"):
        Expression("a.b", "rules/a.yaml", 7)


def test_functions_come_from_the_caller() -> None:
    seen = Expression("seen('torch.oom') and not seen('x')")
    assert seen.holds({}, {"seen": lambda name: name == "torch.oom"})
    assert seen.calls == {("seen", ("torch.oom",)), ("seen", ("x",))}
    assert Expression("nobody('knows')").evaluate({}) is None


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        Expression(text).evaluate({})


def test_a_pattern_that_does_not_compile_is_an_error_of_the_rule() -> None:
    with pytest.raises(ExpressionError, match=r"rules/a\.yaml:7: .*doesn't compile"):
        Expression("matches(text, 'bad(')", "rules/a.yaml", 7)


def test_a_pattern_from_a_field_that_does_not_compile_matches_nothing() -> None:
    assert Expression("matches('x', pattern)").evaluate({"pattern": "bad("}) is None
