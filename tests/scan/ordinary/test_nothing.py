"""Logs that close with the statement that nothing came of the work; and counts that begin at nothing."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def verdict(engine: Engine, log: str) -> str:
    return engine.diagnose(Source("job.log", data=log.encode())).verdict


@pytest.mark.parametrize(
    "tally",
    [
        "60 parts, 0 docs kept, 2700000 unreadable (100 %)",
        "training finished after 0 steps",
        "生成 0 | 跳过 0 | 失败 16 | 耗时 1.5m",
    ],
)
def test_a_tally_of_nothing_is_no_good_end(engine: Engine, tally: str) -> None:
    log = "".join(f"part-{n:05d}: zlib: invalid block type\n" for n in range(20))
    assert verdict(engine, f"{log}{tally}\nmanifest.json written\n") == "failed"


@pytest.mark.parametrize(
    "tally",
    [
        "60 parts, 0 docs kept, 2700000 skipped (already done)",
        "60 parts, 2711000 docs kept, 811 unreadable (0.03 %)",
        "training finished after 410 steps",
    ],
)
def test_what_was_done_before_or_for_the_most_part_is_done(engine: Engine, tally: str) -> None:
    log = "".join(f"part-{n:05d}: {40 + n} docs\n" for n in range(20))
    assert verdict(engine, f"{log}{tally}\nmanifest.json written\n") == "healthy"


def test_nothing_in_every_round_is_nothing(engine: Engine) -> None:
    rounds = [
        *(f"E 10:00:{n % 60:02} feeder: record {n} left out: ends after {n * 113} bytes" for n in range(30)),
        *(f"I 10:01:00 trainer: epoch {n}: {{0}} records used, 120 left out" for n in range(3)),
        "I 10:01:01 trainer: export of the last weights to runs/a7/last.bin",
    ]
    log = "\n".join(rounds)
    assert verdict(engine, log.replace("{0}", "0")) == "failed"
    assert verdict(engine, log.replace("{0}", "14")) == "healthy"


def test_a_table_of_results_without_a_number_is_no_result(engine: Engine) -> None:
    head = "| Tasks |Metric|Value|\n|-------|------|----:|\n"
    log = "".join(f"INFO task {n} of 2 runs\n" for n in (1, 2)) + head
    assert verdict(engine, f"{log}|piqa   |acc   |  nan|\n|boolq  |acc   |  nan|\n") == "failed"
    assert verdict(engine, f"{log}|boolq  |acc   |  nan|\n|piqa   |acc   |0.571|\n") != "failed"
