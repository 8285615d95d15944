"""A traceback quotes the row that raises, with the message in it; the exception's own line is the evidence."""

from __future__ import annotations

from triage import Engine, Source

LOG = (
    "[rank1]: Traceback (most recent call last):\n"
    '[rank1]:   File "/workspace/gan.py", line 12, in <module>\n'
    "[rank1]:     scaler.step(optimizer)\n"
    '[rank1]:   File "/opt/venv/lib/python3.12/site-packages/torch/amp/grad_scaler.py", line 462, in step\n'
    '[rank1]:     raise AssertionError("No inf checks were recorded for this optimizer.")\n'
)
STATED = "[rank1]: AssertionError: No inf checks were recorded for this optimizer.\n"


def shown(engine: Engine, log: str) -> str:
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.rule_id == "numerics.scaler-saw-no-gradient"
    return root.evidence[0].text


def test_the_exception_s_own_line_is_shown(engine: Engine) -> None:
    assert shown(engine, LOG + STATED) == STATED.rstrip("\n")


def test_the_quoted_row_serves_where_the_log_breaks_off(engine: Engine) -> None:
    assert "raise AssertionError" in shown(engine, LOG)


def test_a_condition_may_stand_before_what_raises(engine: Engine) -> None:
    quoted = LOG.replace("    raise AssertionError(", "    if not seen: raise AssertionError(")
    assert shown(engine, quoted + STATED) == STATED.rstrip("\n")
