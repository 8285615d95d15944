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


def test_an_unknown_field_without_an_alternative_says_so() -> None:
    assert fill("rank {rank} of {world_size}", {"rank": 3}, {}) == "rank 3 of an unknown world size"
