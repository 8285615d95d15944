"""Ranks of logs in which most ranks never write."""

from __future__ import annotations

from triage.scan.writers.leads import learn, split

TAGS = [f"[rank{n}]: Traceback (most recent call last):" for n in range(4)]


def rank_of(lines: list[str], line: str) -> int | None:
    """Who writes ``line`` in a log of ``lines``."""
    prefix, _ = split(learn("\n".join(lines).encode()), line)
    return prefix.rank


def test_a_word_for_a_rank_tells_who_writes_once() -> None:
    lines = [f"2026-03-04 10:00:0{n} I rank00 mixlm: step {5 * n}" for n in range(6)]
    odd = "2026-03-04 10:00:07 W rank13 mixlm: batch left out"
    assert rank_of([*lines, odd, lines[0]], odd) == 13


def test_numbers_in_brackets_are_ranks_where_tags_tell_which_there_are() -> None:
    lines = [f"[2026-03-04 10:00:0{n},055][0] step {n}" for n in range(4)]
    odd = "[2026-03-04 10:00:07,062][3] plugin: quota reached"
    assert rank_of([*lines, odd, lines[0], *TAGS], odd) == 3
    assert rank_of([*lines, odd, lines[0]], odd) is None
    beyond = odd.replace("[3]", "[5]")
    assert rank_of([*lines, beyond, lines[0], *TAGS], beyond) is None
