"""How long something took, said by the rank that the others waited for."""

from __future__ import annotations

import pytest

import triage

WAIT = (
    "[rank{0}]:[E1103 14:20:31.1{0}0000000 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=31, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=60000) ran for 60034 "
    "milliseconds before timing out.\n"
)
STEPS = "".join(f"[rank{r}]: step {s} loss {9 - s}.{r}\n" for s in range(1, 6) for r in range(4))
WAITS = "".join(WAIT.format(r) for r in (0, 1, 3))


def diagnose(after: str, before: str = "") -> triage.Diagnosis:
    return triage.diagnose([triage.Source("job.log", data=(STEPS + before + WAITS + after).encode())])


def test_who_was_at_work_for_longer_than_the_others_waited_was_late() -> None:
    cause = diagnose("[rank2]: index rebuilt, took 84.2 s\n").root_cause
    assert cause is not None
    assert cause.category == "watchdog-too-short"
    assert cause.origin is not None and cause.origin.rank == 2
    assert any("took 84.2 s" in evidence.text for evidence in cause.evidence)


@pytest.mark.parametrize(
    ("after", "before"),
    [
        ("[rank2]: index rebuilt, took 3.1 s\n", ""),
        ("", "[rank2]: index rebuilt, took 84.2 s\n"),
        ("[rank2]: gives up after 84.2 s of waiting\n", ""),
        ("[rank2]: next attempt in 600 s\n", ""),
    ],
)
def test_a_short_time_one_of_before_and_one_of_waiting_prove_nothing(after: str, before: str) -> None:
    cause = diagnose(after, before).root_cause
    assert cause is not None
    claim, _, _ = cause.summary.partition("The last that it said")
    assert "took" not in claim and "600 s" not in claim
    assert cause.rule_id.startswith("ledger.never-entered") or "on its way" in cause.summary


def test_the_last_line_of_a_silent_rank_is_shown() -> None:
    cause = diagnose("", "[rank2]: step 6 loss 3.2\n").root_cause
    assert cause is not None
    assert any("[rank2]: step 6 loss 3.2" in evidence.text for evidence in cause.evidence)
