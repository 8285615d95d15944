"""Who ended otherwise than all others, in a parent's list of exit codes."""

from __future__ import annotations

import pytest

from triage.rules.exit_lists import odd_child, odd_code


@pytest.mark.parametrize(
    ("text", "child", "code"),
    [
        ("[0, 0, 0, -11, 0]", 3, -11),
        ("(0, 1)", 1, 1),
        ("1 137 1 1", 1, 137),
        ("[-15, 1, -15]", 1, 1),  # the others were told to end
        ("[-6, -6, 1, -6]", 2, 1),  # aborted by their watchdogs
        ("[1, 1, -6, 1]", 2, -6),
        ("[1, 3, 1]", 1, 3),
        ("{'kilo': 0, 'lima': 0, 'mike': 1}", 2, 1),
        ("{0: 0, 4: -9, 2: 0}", 4, -9),
        ("[1, 1, 1]", None, 1),
        ("[-9, -11, 0]", None, -9),
        ("[1, -6]", None, -6),
        ("[0, 0]", None, 0),
        ("[3]", None, None),
        ("[0, 4000]", None, None),
        ("{'kilo': 'well'}", None, None),
        (None, None, None),
    ],
)
def test_the_odd_one_of_all_ends(text: str | None, child: int | None, code: int | None) -> None:
    assert odd_child(text) == child
    assert odd_code(text) == code
