"""Ranks that all receive, or all send, wait for each other: no pair ever meets."""

from __future__ import annotations

import pytest

import triage
from triage.model import Source

WAIT = (
    "[rank{0}]:[E1122 18:20:07.38{0}534365 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=162, OpType={1}, NumelIn=32768, NumelOut=32768, Timeout(ms)=10000) ran for 10096 milliseconds before timing out.\n"
)


def _cause(engine: triage.Engine, *operations: str) -> triage.Hypothesis:
    text = "".join(WAIT.format(rank, operation) for rank, operation in enumerate(operations))
    cause = engine.diagnose(Source("pp.log", data=text.encode())).root_cause
    assert cause is not None
    return cause


@pytest.mark.parametrize("operation", ["RECV", "SEND"])
def test_nobody_is_at_the_other_end(engine: triage.Engine, operation: str) -> None:
    cause = _cause(engine, operation, operation)
    assert (cause.rule_id, cause.category) == ("ledger.one-sided", "collective-desync")
    assert cause.origin.rank is None


@pytest.mark.parametrize("operations", [("ALLREDUCE", "ALLREDUCE"), ("SEND", "RECV"), ("RECV",)])
def test_whoever_may_meet_is_not_accused_of_that(engine: triage.Engine, operations: tuple[str, ...]) -> None:
    assert _cause(engine, *operations).rule_id != "ledger.one-sided"
