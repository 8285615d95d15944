"""Numbers by which the processes of a job tell themselves apart, in log formats of their own."""

from __future__ import annotations

import pytest

from triage.scan.writers.marks import mark_of


def _lines(*ranks: int, name: str = "r") -> list[str]:
    return [f"INFO:bulk:{name}{rank}: {n}/640 doc_{n:05}" for n, rank in enumerate(ranks)]


@pytest.mark.parametrize("name", ["r", "rk", "pe"])
def test_ranks_that_write_one_after_the_other(name: str) -> None:
    mark = mark_of(_lines(1, 1, *[0] * 10, name=name))
    assert mark is not None
    found = mark[0].match(f"INFO:bulk:{name}1: nothing to do")
    assert found is not None
    assert found[1] == "1"


@pytest.mark.parametrize(
    "lines",
    [
        _lines(*[0] * 6, *[1] * 6),  # a round, or a run: it only goes up
        _lines(2, 2, *[0] * 10),  # where is 1?
        _lines(1, 1, *[0] * 10, name="unit"),
    ],
)
def test_what_may_count_something_else_is_no_rank(lines: list[str]) -> None:
    assert mark_of(lines) is None
