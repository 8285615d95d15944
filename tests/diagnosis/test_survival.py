"""What proves that a job got over an error, and what only looks like it."""

from __future__ import annotations

import pytest

from triage import Engine, Source

BAR = "\rTraining:  {0}%|##        | {0}/100 [00:01<00:10,  9.01it/s]"
ERROR = (
    "Traceback (most recent call last):\n"
    '  File "/workspace/train.py", line 3, in <module>\n'
    "    main()\n"
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/shard_0003.npy'\n"
)


def test_a_bar_that_is_drawn_once_more_is_no_progress(engine: Engine) -> None:
    log = BAR.format(7) + "\n" + ERROR + BAR.format(7) + "\n"
    assert engine.diagnose(Source("job.err", data=log.encode())).verdict == "failed"


def test_a_bar_that_moves_on_is_progress(engine: Engine) -> None:
    log = BAR.format(7) + "\n" + ERROR + "".join(BAR.format(n) + "\n" for n in range(8, 20))
    assert engine.diagnose(Source("job.err", data=log.encode())).verdict == "healthy"


@pytest.mark.parametrize(
    ("rest", "verdict"), [("", "healthy"), ("step 1 loss 4.1\nstep 2 loss 4.0\n", "failed")]
)
def test_the_good_end_of_an_earlier_run_is_not_this_one_s(engine: Engine, rest: str, verdict: str) -> None:
    out = (
        "step 1 loss 4.1\nstep 2 loss 4.0\n{'train_runtime': '1.102', 'train_samples_per_second': '145.2', "
        "'train_steps_per_second': '18.16', 'train_loss': '5.391', 'epoch': '1.667'}\n"
    )
    sources = [Source("job.out", data=(out + rest).encode()), Source("job.err", data=ERROR.encode())]
    assert engine.diagnose(sources).verdict == verdict


@pytest.mark.parametrize(("last", "verdict"), [("", "healthy"), ("gives up", "failed")])
def test_a_controller_that_gives_up_later_got_over_nothing(engine: Engine, last: str, verdict: str) -> None:
    who = "(ServeController pid=4532) "
    log = (
        f"{who}Traceback (most recent call last):\n"
        f'{who}  File "/opt/venv/lib/python3.11/site-packages/ray/_private/worker.py", line 2849, in get\n'
        f"{who}    values = worker.get_objects(refs)\n"
        f"{who}ModuleNotFoundError: No module named 'my_app'\n"
        f"{who}INFO 2025-11-04 13:15:53,560 controller 4532 -- Replica(id='03l9', deployment='app') is stopped.\n"
        f"{who}INFO 2025-11-04 13:15:54,560 controller 4532 -- Starting Replica(id='04aa', deployment='app').\n"
    )
    if last:
        log += f"{who}ERROR 2025-11-04 13:16:40,112 controller 4532 -- The deployment failed to start 3 times in a row.\n"
    found = engine.diagnose(Source("serve.log", data=log.encode()))
    assert found.verdict == verdict
    if last:
        assert found.root_cause is not None and found.root_cause.rule_id == "python.module-missing"


@pytest.mark.parametrize(
    ("result", "verdict"), [("2 passed in 31.10s", "healthy"), ("1 failed, 1 passed in 31.10s", "failed")]
)
def test_a_test_may_want_a_process_to_fail(engine: Engine, result: str, verdict: str) -> None:
    log = (
        "test_collectives.py::test_failure_is_reported \n\n-- Process 0 terminated with the following error:\n"
        + ERROR
        + f"\nPASSED\n\n============================== {result} ==============================\n"
    )
    assert engine.diagnose(Source("pytest.log", data=log.encode())).verdict == verdict
