"""Places in a grid of processes that stand before lines."""

from __future__ import annotations

from random import Random

import pytest

from triage.scan.writers.leads import learn, split


def _rank(form: str, line: str, rows: int = 3, columns: int = 2, extra: str = "") -> int | None:
    lines = [
        form.format(row, column) + f" sweep {turn}" + (extra and extra.format(row + column * rows))
        for turn in range(4)
        for row in range(rows)
        for column in range(columns)
    ]
    Random(5).shuffle(lines)  # as processes take turns
    return split(learn("\n".join(lines).encode()), line)[0].rank


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ("process ({0}, {1}):", "process (2, 1): lost"),
        ("({0},{1})", "(2,1) lost"),
        ("12:00:01 [y={0} x={1}]", "12:00:01 [y=2 x=1] lost"),
    ],
)
def test_ranks_run_through_a_grid_row_by_row(form: str, line: str) -> None:
    assert _rank(form, line) == 5


def test_ranks_that_are_told_beside_places_may_run_down_the_columns() -> None:
    assert _rank("({0},{1})", "(2,1) rank 5 lost", extra=" rank {}") == 5
    assert _rank("({0},{1})", "(0,1) lost", extra=" rank {}") == 3


def test_a_last_row_may_be_shorter() -> None:
    lines = [f"({n // 4},{n % 4}) batch {turn}" for turn in range(4) for n in (3, 0, 5, 1, 4, 2)]
    assert split(learn("\n".join(lines).encode()), "(1,1) lost")[0].rank == 5


@pytest.mark.parametrize("form", ["step ({0}, {1}):", "[epoch {0}, batch {1}]", "[ep {0}/{1}]"])
def test_what_is_counted_is_no_place(form: str) -> None:
    assert _rank(form, form.format(2, 1)) is None


def test_places_that_only_go_up_are_steps() -> None:
    lines = [f"[{a}, {b}] loss 0.{a}{b}" for a in range(3) for b in range(4) for _ in range(2)]
    assert split(learn("\n".join(lines).encode()), "[2, 1] loss 0.2")[0].rank is None
