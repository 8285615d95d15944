"""What a run is for and did not come where it belongs, although that is only warned of."""

from __future__ import annotations

from collections.abc import Container

import pytest

from triage import Engine, Source


@pytest.mark.parametrize(
    ("failing", "expected"),
    [(range(1, 7), "failed"), (range(3, 7), "failed"), ((2,), "healthy"), ((2, 3), "healthy")],
)
def test_no_checkpoint_since_the_first_that_failed(
    engine: Engine, failing: Container[int], expected: str
) -> None:
    log = []
    for epoch in range(1, 7):
        log.append(f"10:0{epoch}:00 | INFO | trainer - epoch {epoch}/6 train_loss {2 - epoch / 10:.3f}")
        log.append(
            f"10:0{epoch}:01 | WARNING | trainer - could not save checkpoint ckpt/{epoch}.pt: disk says no"
            if epoch in failing
            else f"10:0{epoch}:01 | INFO | trainer - saved checkpoint ckpt/{epoch}.pt (1.4 GB)"
        )
    log.append("10:08:00 | INFO | trainer - fit finished, best val_loss 1.2")
    assert engine.diagnose(Source("job.log", data="\n".join(log).encode())).verdict == expected
