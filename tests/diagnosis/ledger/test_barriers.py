"""A monitored barrier counts within its group."""

from __future__ import annotations

import pytest

from triage import Engine

FAILED = "[rank{r}]:[E1122 18:17:53.866742380 ProcessGroupGloo.cpp:67] [Rank {m}]: Rank {of} failed to pass monitoredBarrier in 4000 ms\n"
REACHED = (
    "[rank{r}]:[E1122 18:17:53.845996497 ProcessGroupGloo.cpp:67] Rank {m} successfully reached monitoredBarrier, "
    "but received errors while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank.\n"
)


@pytest.mark.parametrize(
    ("members", "late", "rank"),
    [
        ({0: 0, 1: 1, 3: 3}, 2, 2),
        ({0: 4, 1: 5, 3: 7}, 2, 6),
        ({0: 1, 1: 3, 3: 7}, 2, 5),
        ({0: 1, 1: 3}, 2, 5),
        ({0: 4}, 2, None),
    ],
)
def test_the_member_that_failed_is_told_by_the_ranks_of_the_others(
    engine: Engine, members: dict[int, int], late: int, rank: int | None
) -> None:
    log = FAILED.format(r=members[0], m=0, of=late)
    log += "".join(REACHED.format(r=r, m=m) for m, r in members.items() if m)
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("straggler-or-hang", rank)
