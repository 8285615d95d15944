from __future__ import annotations

import pytest

from triage.scan.writers.same_lead import same_lead

RECORDS = [f"[2025-10-14 03:20:0{n} TP{n}] Load weight end" for n in range(8)]


@pytest.mark.parametrize("lead", ["llm-7d9c engine ", "gpu-12 ", "svc-a pod-b main "])
def test_words_that_hide_records(lead: str) -> None:
    assert same_lead([lead + line for line in RECORDS]) == lead


@pytest.mark.parametrize(
    "lines",
    [
        RECORDS,
        [f"node-1 {line}" for line in RECORDS[:3]],
        [f"batch-0 loss {n}" for n in range(8)],  # a program's own words
        [f"trainer-1  | {line}" for line in [*RECORDS, "", "a | b"]],
        [f"node-{n} {line}" for n, line in enumerate(RECORDS)],
        [f"2026-11-20 18:00:0{n} INFO x.y: step" for n in range(8)],
    ],
)
def test_what_is_no_such_thing(lines: list[str]) -> None:
    assert same_lead(lines) == ""
