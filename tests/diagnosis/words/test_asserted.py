"""Assertions without a message: the expression that did not hold is all that a library says."""

from __future__ import annotations

import pytest

from triage import Engine, Source

SITE = "/opt/venv/lib/python3.12/site-packages/somelib"


@pytest.mark.parametrize(
    ("code", "category"),
    [
        ("assert self.total_num_kv_heads % tp_size == 0", "config"),
        ("assert Lq in {16, 32, 64, 128, 256, 576}", "config"),
        ("assert all(vocab_sizes[0] == vocab_size for vocab_size in vocab_sizes)", "config"),
        ("assert outputs[0].metrics is not None", "user-code"),
        ("assert len(block_table) == 1", "user-code"),
        ("assert b.shape[0] % 16 == 0 and world_size > 1", "user-code"),
        ("assert self.matchers[i].accept_token(token)", "user-code"),
    ],
)
def test_sizes_that_do_not_go_together_are_settings(engine: Engine, code: str, category: str) -> None:
    frames = [("/work/serve.py", "main", "run()")]
    frames += [(f"{SITE}/engine.py", f"step_{i}", "go()") for i in range(4)]
    frames += [(f"{SITE}/layers.py", "build", code)]
    log = "Traceback (most recent call last):\n"
    log += "".join(f'  File "{path}", line 41, in {name}\n    {line}\n' for path, name, line in frames)
    log = "".join(f"[rank3]: {line}\n" for line in [*log.splitlines(), "AssertionError"])
    found = engine.diagnose(Source(name="job.err", data=log.encode())).root_cause
    assert found is not None
    assert found.category == category
    assert code in found.evidence[0].text
