"""The words that all is done, right below an error that nothing answers."""

from __future__ import annotations

import pytest

from triage import Engine, Source

STEPS = [f"epoch 0 step {n} loss {2 - n / 1000:.3f}" for n in range(0, 800, 100)]
ERROR = "Error: index 5 is out of bounds for dimension 0 with size 3"


def verdict(engine: Engine, *lines: str) -> str:
    return engine.diagnose(Source("job.log", data="\n".join([*STEPS, *lines]).encode())).verdict


def test_good_words_do_not_answer_an_error(engine: Engine) -> None:
    assert verdict(engine, ERROR, "Saving final model", "Done!") == "failed"


@pytest.mark.parametrize(
    "between",
    [
        ["retrying the batch", *STEPS],
        [f"epoch 1 step {n} loss {1 - n / 1000:.3f}" for n in range(0, 800, 100)],
    ],
)
def test_work_that_goes_on_does(engine: Engine, between: list[str]) -> None:
    assert verdict(engine, ERROR, *between, "Saving final model", "Done!") == "healthy"


def test_a_program_that_leaves_below_its_error_has_not_got_over_it(engine: Engine) -> None:
    log = [f"13:07:14 [rank{rank}] INFO group ready" for rank in range(3)]
    log.append("13:07:14 [rank1] ERROR dataset unusable: no index under /data/none")
    log += [f"13:07:15 [rank{rank}] INFO not all ranks are ready, leaving" for rank in range(3)]
    assert engine.diagnose(Source("job.log", data="\n".join(log).encode())).verdict == "failed"
