"""Logs whose newest lines stand first."""

from __future__ import annotations

import json

import pytest

from triage import Engine
from triage.sources.turned import oldest_first

STEPS = [f"2026-11-22T03:10:{s:02d}.5Z step {s}" for s in range(20)]
RAISED = [
    "Traceback (most recent call last):",
    '  File "/app/run.py", line 31, in <module>',
    "    main()",
    '  File "/app/run.py", line 8, in main',
    "    check(token)",
    "ValueError: token 40123 is outside of the vocabulary",
]


def joined(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def test_lines_are_turned_round_where_time_runs_backwards() -> None:
    assert oldest_first(joined(STEPS[::-1])) == joined(STEPS)


@pytest.mark.parametrize(
    "stamp",
    [
        lambda s: f'{{"timestamp": "2026-11-22 03:10:{s:02d},250", "message": "step {s}"}}',
        lambda s: json.dumps({"ts": 1795317000 + s, "msg": f"step {s}"}),
    ],
)
def test_so_are_records(stamp: object) -> None:
    assert callable(stamp)
    lines = [str(stamp(s)) for s in range(20)]
    assert oldest_first(joined(lines[::-1])) == joined(lines)


@pytest.mark.parametrize(
    "lines",
    [
        STEPS,
        STEPS[:5][::-1],
        [*STEPS[10:], *STEPS[:10]],
        [line for pair in zip(STEPS[1::2], STEPS[::2], strict=True) for line in pair],
        ["no time", *(f"step {s}" for s in range(20))],
    ],
)
def test_others_stay_as_they_are(lines: list[str]) -> None:
    assert oldest_first(joined(lines)) is None


def test_a_record_with_all_its_lines_is_kept_whole() -> None:
    record = [f"2026-11-22T03:11:00.1Z ERROR uncaught\n{RAISED[0]}", *RAISED[1:]]
    assert oldest_first(joined([*record, *STEPS[::-1]])) == joined([*STEPS, *record])


def test_the_names_of_columns_stay_on_top() -> None:
    assert oldest_first(joined(["time message", *STEPS[::-1]])) == joined(["time message", *STEPS])


def test_what_ended_a_job_is_found_at_the_top(engine: Engine) -> None:
    lines = STEPS + [f"2026-11-22T03:10:40.{at:09d}Z {line}" for at, line in enumerate(RAISED)]
    found = engine.diagnose(joined(lines[::-1]))
    assert found.root_cause is not None
    assert found.root_cause.category == "user-code"
    assert found.root_cause.evidence[0].text.endswith(RAISED[-1])
    assert any("newest lines stand first" in note for note in found.notes)
