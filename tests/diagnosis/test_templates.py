"""Sentences with placeholders read well, whatever is known and however it ends."""

from __future__ import annotations

import pytest

from triage.diagnosis.templates import fill

SENTENCE = "No space is left {where|} on {host|the node}: {message|no message}."


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, "No space is left on the node: no message."),
        ({"where": "/dev/shm", "host": "n1"}, "No space is left /dev/shm on n1: no message."),
        ({"message": "write failed."}, "No space is left on the node: write failed."),
        ({"message": "write  failed:\n"}, "No space is left on the node: write failed."),
        ({"message": "..."}, "No space is left on the node: ...."),
    ],
)
def test_neither_gaps_nor_two_full_stops(values: dict[str, str], text: str) -> None:
    assert fill(SENTENCE, values, {}) == text


def test_an_aside_that_would_tell_nothing_is_left_out() -> None:
    sentence = (
        "They wait in {op|a collective} (sequence {seq|unknown}, timeout {timeout}) for good ({where|here})."
    )
    assert fill(sentence, {}, {}) == "They wait in a collective for good (here)."
    told = fill(sentence, {"seq": 0}, {})
    assert told == "They wait in a collective (sequence 0, timeout an unknown timeout) for good (here)."


def test_an_unknown_field_without_an_alternative_says_so() -> None:
    assert fill("rank {rank} of {world_size}", {"rank": 3}, {}) == "rank 3 of an unknown world size"


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ((9,), "Rank 9 was late: rank 9 waits; rank 9 never came."),
        ((9, 14), "Ranks 9, 14 were late: ranks 9, 14 wait; ranks 9, 14 never came."),
    ],
)
def test_several_ranks_are_spoken_of_as_several(ranks: tuple[int, ...], text: str) -> None:
    sentence = "Rank {ranks} was late: rank {ranks} waits; rank {ranks|unknown} never came."
    assert fill(sentence, {"ranks": ranks}, {}) == text
