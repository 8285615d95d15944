"""A communicator that nobody finishes, and one in the midst of which a process crashed."""

from __future__ import annotations

import pytest

from triage import Engine, Source

START = (
    "{0}: n{1}:{2}:{3} [{4}] NCCL INFO comm 0x2{0} rank {0} nranks 8 cudaDev {4} nvmlDev {4} busId {4}b000 "
    "commId 0x97b7 - Init START\n"
)
LOST = (
    "1: n0:101:201 [1] misc/socket.cc:484 NCCL WARN socketProgress: Connection closed by remote peer n1<47861>\n"
    "srun: error: n0: task 1: Exited with exit code 1\n"
)
CRASH = (
    "6: [n1:106] *** Process received signal ***\n6: [n1:106] Signal: Segmentation fault (11)\n"
    "6: [n1:106] Failing at address: 0x28\n6: [n1:106] *** End of error message ***\n"
)


@pytest.mark.parametrize(
    ("crash", "end", "expected"),
    [
        (CRASH, "srun: error: n1: task 6: Segmentation fault (core dumped)\n", ("ledger.killed", 6)),
        ("", "", ("ledger.init-incomplete", None)),
    ],
)
def test_who_crashed_while_it_was_made_keeps_the_others_from_finishing(
    engine: Engine, crash: str, end: str, expected: tuple[str, int | None]
) -> None:
    begun = "".join(START.format(r, r // 4, 100 + r, 200 + r, r % 4) for r in range(8))
    root = engine.diagnose([Source("job.out", data=(begun + crash + LOST + end).encode())]).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == expected
