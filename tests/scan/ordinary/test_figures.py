"""Reports of Megatron whose loss is gone, since it was no number."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source


def report(step: int, *, loss: bool = True, nan: int = 0, skipped: int = 0) -> str:
    told = f" lm loss: {4 - step / 100:.6E} |" if loss else ""
    norm = "1.321" if loss else "nan"
    return (
        f" [2026-03-04 10:{step // 20:02d}:{step % 20 * 3:02d}] iteration {step + 1:8d}/    1000 | consumed samples: {step * 256:12d} | "
        f"elapsed time per iteration (ms): 2712.4 | learning rate: 1.500000E-04 | global batch size:   256 |{told} loss scale: 1.0 | "
        f"grad norm: {norm} | number of skipped iterations: {skipped:3d} | number of nan iterations: {nan:3d} |\n"
    )


def diagnosed(engine: Engine, log: str) -> Diagnosis:
    return engine.diagnose([Source("train.log", data=log.encode())])


GOOD = "".join(report(step) for step in range(20))


@pytest.mark.parametrize("rising", [True, False])
def test_a_loss_that_is_left_out_is_lost(engine: Engine, rising: bool) -> None:
    bad = "".join(report(step, loss=False, nan=step - 19 if rising else 1) for step in range(20, 40))
    root = diagnosed(engine, GOOD + bad).root_cause
    assert root is not None
    assert root.category == "numerics"


@pytest.mark.parametrize(
    "log",
    [
        GOOD + report(20, loss=False, nan=1) + "".join(report(step) for step in range(21, 40)),
        report(0, loss=False, skipped=1) + report(1, loss=False, skipped=1) + GOOD,
    ],
)
def test_one_that_comes_back_is_not(engine: Engine, log: str) -> None:
    assert diagnosed(engine, log).verdict == "healthy"


def test_reports_are_no_end(engine: Engine) -> None:
    assert diagnosed(engine, GOOD).completed is None
