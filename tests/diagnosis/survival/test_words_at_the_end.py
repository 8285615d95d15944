"""Good ends that somebody only says, below what ended the work."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source

TRACEBACK = """Traceback (most recent call last):
  File "/w/fit.py", line 8, in <module>
    run(x)
  File "/w/fit.py", line 3, in run
    return x @ w
RuntimeError: size mismatch, got input (4), mat (4x3), vec (5)
"""
SAVING = """Traceback (most recent call last):
  File "/w/fit.py", line 8, in <module>
    try: save(p)
  File "/w/fit.py", line 4, in save
    torch.save(m.state_dict(), p)
  File "/v/site-packages/torch/serialization.py", line 828, in __init__
    torch._C.PyTorchFileWriter(
RuntimeError: Parent directory /ckpt/run does not exist.
"""
EPOCHS = "".join(
    f"Epoch {e}/6 [{b:>3}/90] loss {2 / (e + b / 90):.4f}\n" for e in range(1, 7) for b in (0, 30, 60)
)


def diagnosed(engine: Engine, log: str) -> Diagnosis:
    """The diagnosis of a job with one log."""
    return engine.diagnose([Source("job.out", data=log.encode())])


@pytest.mark.parametrize(
    "end",
    ["copying logs\n=== Mon Nov 23 06:54:04 UTC 2026 job 7741 finished ===\n", "Training finished.\n"],
)
def test_who_started_a_program_says_that_he_is_done_whatever_ended_it(engine: Engine, end: str) -> None:
    found = diagnosed(engine, "fold 0 rmse 0.31\nfold 5 rmse 0.30\n" + TRACEBACK + end)
    assert found.root_cause is not None
    assert found.root_cause.category == "user-code"


def test_who_says_what_is_done_about_it_has_caught_it(engine: Engine) -> None:
    log = (
        "fold 0 rmse 0.31\nfold 5 rmse 0.30\n"
        + TRACEBACK
        + "fold 10 left out, going on\nfold 15 rmse 0.28\nTraining finished.\n"
    )
    assert diagnosed(engine, log).verdict == "healthy"


def test_a_last_checkpoint_that_could_not_be_written_is_a_failure(engine: Engine) -> None:
    log = EPOCHS + SAVING + "checkpoint was not written, going on\nFinished 6 epochs\nAll done.\n"
    found = diagnosed(engine, log)
    assert found.root_cause is not None
    assert found.root_cause.category == "checkpoint"


def test_a_last_checkpoint_that_lies_elsewhere_is_none(engine: Engine) -> None:
    log = EPOCHS + SAVING + "checkpoint saved to /tmp/epoch_6.pt instead\nFinished 6 epochs\nAll done.\n"
    assert diagnosed(engine, log).verdict == "healthy"


@pytest.mark.parametrize(("last", "verdict"), [(8, "healthy"), (3, "failed")])
def test_who_interrupts_a_program_that_is_through_loses_nothing(
    engine: Engine, last: int, verdict: str
) -> None:
    log = (
        "".join(f"epoch {e}/8  train 0.{90 - e * 5}  val 0.{92 - e * 5}\n" for e in range(1, last + 1))
        + "the viewer is open\n"
        + 'Traceback (most recent call last):\n  File "/w/fit.py", line 10, in <module>\n    view()\nKeyboardInterrupt\n'
    )
    assert diagnosed(engine, log).verdict == verdict


def test_a_calculation_that_did_not_converge_is_not_done_though_its_program_leaves_in_order(
    engine: Engine,
) -> None:
    log = "     iteration #  2     ecut=    50.00 Ry\n     convergence NOT achieved after   2 iterations: stopping\n\n   JOB DONE.\n"
    found = diagnosed(engine, log)
    assert found.root_cause is not None
    assert found.root_cause.category == "numerics"


def test_a_later_calculation_that_converges_takes_it_back(engine: Engine) -> None:
    log = (
        "     convergence NOT achieved after   2 iterations: stopping\n"
        "     convergence has been achieved in  11 iterations\n     convergence has been achieved in   9 iterations\n   JOB DONE.\n"
    )
    assert diagnosed(engine, log).verdict == "healthy"


def test_work_that_is_left_in_the_queue_is_left_undone(engine: Engine) -> None:
    log = "".join(f"INFO driver -- batch {n} of 24 embedded\n" for n in range(1, 9))
    log += "INFO driver -- queue has 16 batches left\nINFO autoscaler -- cluster is down\n"
    assert diagnosed(engine, log).verdict == "failed"


def test_what_is_left_and_counted_down_is_work(engine: Engine) -> None:
    log = "".join(f"INFO driver -- {n} batches left\n" for n in range(24, 8, -1))
    assert diagnosed(engine, log).verdict == "healthy"


def test_who_gives_up_and_says_goodbye_is_not_done(engine: Engine) -> None:
    log = "".join(f"[{n * 30:>5}s] gen {n} best fitness {1 - 1 / (n + 2):.4f}\n" for n in range(20))
    log += "[ 1320s] evaluator pool does not answer\n[ 1380s] giving up on the pool\n[ 1380s] bye\n"
    assert diagnosed(engine, log).verdict == "failed"
