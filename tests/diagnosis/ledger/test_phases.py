"""What a rank was doing while the others waited: only what it had not finished long before."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage import Engine, Source

FOLDER = Path(__file__).parents[3] / "fixtures" / "captured" / "stall-slow-checkpoint-quiet"
STEPS = "".join(f"0: step    {n} | loss 0.0072 | lr 1.0e-03\n" for n in range(4, 9))


@pytest.mark.parametrize("saved", [True, False])
def test_a_checkpoint_that_was_followed_by_steps_kept_nobody_waiting(engine: Engine, saved: bool) -> None:
    out = (FOLDER / "job.out").read_text()
    if not saved:
        out = "".join(line for line in out.splitlines(keepends=True) if "Saved" not in line)
    err = Source("job.err", data=(FOLDER / "job.err").read_bytes())
    before = engine.diagnose([err, Source("job.out", data=out.encode())]).root_cause
    after = engine.diagnose([err, Source("job.out", data=(out + STEPS).encode())]).root_cause
    assert before is not None
    assert after is not None
    assert before.phase == "checkpoint"
    assert (after.rule_id, after.origin.rank) == ("ledger.never-entered", 0)
