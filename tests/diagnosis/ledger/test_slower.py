"""Who takes longer than all others by the times that all of them state."""

from __future__ import annotations

import pytest

from triage import Engine

RAISED = 'Traceback (most recent call last):\n  File "/w/t.py", line 9, in <module>\n    dist.all_reduce(g)\nRuntimeError: '
GLOO = "[/pytorch/third_party/gloo/gloo/transport/tcp/"
TIMED_OUT = GLOO + "unbound_buffer.cc:78] Timed out waiting 6000ms for recv operation to complete"
LOST = GLOO + "pair.cc:553] Connection closed by peer [127.0.0.1]:29933"


def blamed(engine: Engine, step: str, own: tuple[str, ...], others: tuple[str, ...]) -> int | None:
    """The rank that is blamed where rank 2 takes its ``own`` times and the others take theirs."""
    lines = [
        f"[rank{r}]: " + step.format(k, *(own if r == 2 else others)) for k in range(6) for r in (3, 0, 2, 1)
    ]
    for r, words in ((0, LOST), (1, TIMED_OUT), (3, TIMED_OUT), (2, LOST)):
        lines += [f"[rank{r}]: {line}" for line in (RAISED + words).split("\n")]
    root = engine.diagnose(("\n".join(lines) + "\n").encode()).root_cause
    assert root is not None and root.category == "straggler-or-hang"
    return root.origin.rank


@pytest.mark.parametrize(
    ("step", "own", "others"),
    [
        ("it {} compute {}s sync {}s", ("4.31", "0.01"), ("0.05", "4.27")),
        ("step {}: data_time: {} comm_time: {}", ("3.102", "0.004"), ("0.113", "2.911")),
        ("step {} took {} ms", ("2950",), ("410",)),
    ],
)
def test_the_slow_one_is_waited_for(
    engine: Engine, step: str, own: tuple[str, ...], others: tuple[str, ...]
) -> None:
    assert blamed(engine, step, own, others) == 2


@pytest.mark.parametrize(
    ("step", "own", "others"),
    [
        ("it {} compute {}s sync {}s", ("0.05", "4.31"), ("0.05", "0.01")),
        ("step {} took {} ms", ("430",), ("410",)),
        ("step {} took {} ms", ("12",), ("2",)),
    ],
)
def test_who_waits_or_is_hardly_slower_is_not(
    engine: Engine, step: str, own: tuple[str, ...], others: tuple[str, ...]
) -> None:
    assert blamed(engine, step, own, others) is None
