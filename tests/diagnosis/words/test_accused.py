"""Whom the words of a failure speak of."""

from __future__ import annotations

import pytest

from triage import Engine
from triage.model import Hypothesis


def cause(engine: Engine, log: str) -> Hypothesis:
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    return root


def raised(error: str, tag: str = "", function: str = "join") -> str:
    return (
        f"{tag}Traceback (most recent call last):\n"
        f'{tag}  File "/srv/app/fit.py", line 40, in {function}\n'
        f"{tag}    check(x)\n"
        f"{tag}{error}\n"
    )


@pytest.mark.parametrize(
    ("words", "rank"),
    [
        ("rank 3 ran out of patience, stopping all", 3),
        ("round 4: rank 3 sent 5 rows, 8 were due", 3),
        ("no answer of rank 3 in round 7", 3),
        ("rank 3's checksum is other than mine", 3),
        ("ranks 1, 3 ran out of patience", 0),
        ("rank 1 has 4 rows and rank 3 has 5", 0),
        ("rank 3 is waiting", 0),
        ("round 4 incomplete after 8 s, missing [3]", 3),
        ("waiting for peers: [3]", 3),
        ("missing [1, 3]", 0),
        ("table of rank 3", 0),
    ],
)
def test_who_collects_what_others_send_says_whose_fault_it_is(engine: Engine, words: str, rank: int) -> None:
    assert cause(engine, raised(f"RuntimeError: {words}", "[rank0]: ")).origin.rank == rank


def test_an_exception_without_a_name_is_of_the_rank_of_which_all_others_complain(engine: Engine) -> None:
    own = raised("RuntimeError: scratch of two rounds is exceeded", function="push")
    others = raised("PeerTimeout: no answer of rank 2 in round 7 after 3 s") * 3
    root = cause(engine, own + others)
    assert root.title.startswith("RuntimeError in push")
    assert root.origin.rank == 2


def test_who_misses_a_rank_that_was_killed_did_not_kill_it(engine: Engine) -> None:
    hello = "".join(f"2026/11/22 19:08:4{r} rank{r} pid 71{r}0 up\n" for r in range(4))
    turns = "".join(f"2026/11/22 19:08:47 rank{r} round {k} sum 1.5\n" for k in range(3) for r in range(4))
    killed = "run.sh: line 14: 7120 Killed                  python mailbox.py\n"
    lost = raised("PeerTimeout: no answer of rank 2 in round 7 after 3 s") * 3
    root = cause(engine, hello + turns + killed + lost)
    assert (root.category, root.origin.rank) == ("rank-crash", 2)
