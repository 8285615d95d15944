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


def test_a_rank_that_is_not_known_is_a_process() -> None:
    sentence = "Rank {ranks|unknown} ended; nobody says why rank {rank} did."
    assert fill(sentence, {}, {}) == "A process ended; nobody says why a process did."
    assert fill(sentence, {"ranks": (2,), "rank": 2}, {}) == "Rank 2 ended; nobody says why rank 2 did."


def test_what_stands_in_for_an_unknown_field_may_have_fields_of_its_own() -> None:
    title = "It ended with {signal|exit code {exit_code}}"
    assert fill(title, {"exit_code": 3}, {}) == "It ended with exit code 3"
    assert fill(title, {"exit_code": 3, "signal": "SIGBUS"}, {}) == "It ended with SIGBUS"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("the buffer is too small\nstep 9 of 20\nstep 10 of 20", "It said: the buffer is too small"),
        ("loading failed for Net:\n  Missing key: w", "It said: loading failed for Net: Missing key: w"),
        (
            '{"level": "error", "event": "upload_failed", "error": "timed out"}',
            "It said: upload_failed: timed out",
        ),
        (
            "/opt/venv/lib/python3.12/site-packages/flash/attn.so: no symbol",
            "It said: flash/attn.so: no symbol",
        ),
    ],
)
def test_a_sentence_quotes_the_words_that_tell(said: str, text: str) -> None:
    assert fill("It said: {words}", {"words": said}, {}) == text


def test_a_command_is_filled_in_with_what_was_captured() -> None:
    library = "/opt/venv/lib/python3.12/site-packages/flash/attn.so"
    assert fill("ldd {library}", {"library": library}, {}, command=True) == f"ldd {library}"


def test_marks_of_a_value_do_not_meet_those_of_the_sentence() -> None:
    assert fill("It failed ({what}).", {"what": "no such key."}, {}) == "It failed (no such key)."


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "1 other rank waits, 1 process was killed, 1 element."),
        (3, "3 other ranks wait, 3 processes were killed, 3 elements."),
    ],
)
def test_one_of_something_is_spoken_of_as_one(count: int, text: str) -> None:
    sentence = "{n} other ranks wait, {n} process(es) were killed, {n} elements."
    assert fill(sentence, {"n": count}, {"n": "int"}) == text


def test_what_a_quoter_wrote_behind_an_exception_is_not_its_message() -> None:
    sentence = "It caught {type} ({message}) and went on."
    shown = "It caught OSError (2, 'No such file (yet)') and went on."
    assert fill(sentence, {"type": "OSError", "message": "2, 'No such file (yet)'), retrying"}, {}) == shown
    listed = {"type": "ValueError", "message": "1) the first 2) the second"}
    assert fill(sentence, listed, {}) == "It caught ValueError (1) the first 2) the second) and went on."
