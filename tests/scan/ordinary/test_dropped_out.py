"""Writers who count side by side, one of whom falls silent in the midst."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def verdict(engine: Engine, *lines: str) -> str:
    return engine.diagnose(Source("job.log", data="\n".join(lines).encode())).verdict


@pytest.mark.parametrize("name", ["w{0}", "rank{0}:"])
def test_who_falls_silent_while_all_others_go_on_is_gone(engine: Engine, name: str) -> None:
    counts = [
        (writer, f"{name.format(writer)} part {part}/100")
        for part in range(0, 100, 10)
        for writer in range(6)
    ]
    rest = "reduce over all partial results"
    lost = [text for at, (writer, text) in enumerate(counts) if writer != 4 or at < 24]
    assert verdict(engine, *lost, rest) == "failed"
    assert verdict(engine, *(text for _, text in counts), rest) == "healthy"


def test_who_says_last_of_all_that_it_has_no_more_has_had_less_to_do(engine: Engine) -> None:
    lines = [f"w{writer} part {part}" for part in range(12) for writer in range(4) if writer != 2 or part < 5]
    lines.insert(22, "w2 shard is empty, nothing left for me")
    assert verdict(engine, *lines, "reduce over all partial results") == "healthy"


def test_one_of_two_may_have_less_to_do(engine: Engine) -> None:
    lines = [f"w{writer} part {part}" for part in range(12) for writer in range(2) if writer or part < 8]
    assert verdict(engine, *lines, "reduce over all partial results") == "healthy"


def files(silent: int, until: int, *last: str) -> list[Source]:
    return [
        Source(
            f"logs/rank_{rank}.log",
            data="\n".join(
                [f"2026-03-02 10:14:22,104 INFO shard {at + 1}/12 embedded, 4012 docs" for at in range(12)][
                    : until if rank == silent else 12
                ]
                + [
                    f"2026-03-02 10:20:22,104 INFO {said}"
                    for said in (last if rank == silent else ("all shards embedded",))
                ]
            ).encode(),
        )
        for rank in range(4)
    ]


def test_who_falls_silent_in_a_log_of_its_own_is_named(engine: Engine) -> None:
    found = engine.diagnose(files(2, 5))
    assert found.root_cause is not None
    assert found.root_cause.origin.rank == 2
    assert engine.diagnose(files(2, 5, "all shards embedded")).verdict == "healthy"
