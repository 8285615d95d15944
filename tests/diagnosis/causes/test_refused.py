"""A rank that ends with a status of its own and raises nothing has said why in its last line; all others only lost it."""

from __future__ import annotations

import triage
from triage.model import Source

LOST = """\
[2026-11-22T18:20:32.7][fit][1] waiting for the main process to prepare runs/a
[rank1]:[W1122 18:20:32.893455206 TCPStore.cpp:138] [c10d] recvValueWithTimeout failed: \
Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?
rc=1
"""
REFUSED = """\
[2026-11-22T18:20:32.7][fit][0] args {'out': 'runs/a'}
[2026-11-22T18:20:32.7][fit][0] refusing to start: runs/a already holds model-500; pass --overwrite-out or choose another one
[rank0]:[W1122 18:20:32.892377970 ProcessGroupNCCL.cpp:1575] Warning: WARNING: \
destroy_process_group() was not called before program exit, which can leak resources.
rc=3
"""


def _diagnose(engine: triage.Engine, first: str) -> triage.Diagnosis:
    return engine.diagnose(
        [Source("pod-fit-0.log", data=first.encode()), Source("pod-fit-1.log", data=LOST.encode())]
    )


def test_the_last_words_of_the_one_that_left_are_the_cause(engine: triage.Engine) -> None:
    cause = _diagnose(engine, REFUSED).root_cause
    assert cause is not None
    assert (cause.category, cause.origin.rank) == ("config", 0)
    assert "refusing to start" in cause.evidence[0].text


def test_a_log_with_an_error_in_it_is_no_such_log(engine: triage.Engine) -> None:
    raised = "Traceback (most recent call last):\n  File \"fit.py\", line 3, in <module>\n    go()\nKeyError: 'a'\n"
    cause = _diagnose(engine, REFUSED.replace("rc=3", raised + "rc=1")).root_cause
    assert cause is not None
    assert cause.category == "user-code"
