"""A process that torchrun killed because it did not stop is no crash."""

from __future__ import annotations

import pytest

from triage import Engine, Source

ENTRY = (
    "[{0}]:\n  time      : 2026-09-07_13:{1}\n  host      : n1\n  rank      : {2} (local_rank: {2})\n"
    "  exitcode  : {3} (pid: 1469{2})\n  error_file: <N/A>\n  traceback : {4}\n"
)
RAISED = (
    'Traceback (most recent call last):\n  File "/w/train.py", line 210, in <module>\n    main()\n'
    "  File \"/w/train.py\", line 88, in main\n    raise RuntimeError('no data')\nRuntimeError: no data\n"
)


@pytest.mark.parametrize(("time", "rule"), [("03:29", "unknown.user-code"), ("02:59", "ledger.killed")])
def test_only_a_kill_that_comes_as_late_as_torchrun_waits_is_its_own(
    engine: Engine, time: str, rule: str
) -> None:
    log = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        + "=" * 60 + "\ntrain.py FAILED\n" + "-" * 60 + "\nFailures:\n"
        + ENTRY.format(1, time, 0, -9, "Signal 9 (SIGKILL) received by PID 14690")
        + "-" * 60 + "\nRoot Cause (first observed failure):\n"
        + ENTRY.format(0, "02:58", 1, 1, "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html")
        + "=" * 60 + "\n"
    )  # fmt: skip
    root = engine.diagnose(
        [Source("job.log", data=(RAISED * (rule != "ledger.killed") + log).encode())]
    ).root_cause
    assert root is not None
    assert root.rule_id == rule
