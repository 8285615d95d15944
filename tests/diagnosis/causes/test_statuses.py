"""Exceptions that say a mere status of what a program had started."""

from __future__ import annotations

from triage import Engine, Source

PARENT = (
    "     42/200      7.12G       1.09     0.7201      1.203         61        640:  37%|███▋      | 191/512 [00:38<01:03]\n"
    'Traceback (most recent call last):\n  File "/work/train.py", line 9, in <module>\n    model.train(epochs=200)\n'
    '  File "/usr/lib/python3.10/subprocess.py", line 369, in check_call\n    raise CalledProcessError(retcode, cmd)\n'
    "subprocess.CalledProcessError: Command '['/work/env/bin/python', '-m', 'torch.distributed.run', '--nproc_per_node', '2', "
    "'--config', 'default_args.yaml']' returned non-zero exit status 1.\n"
)


def test_the_command_that_a_status_quotes_is_no_setting_that_was_refused(engine: Engine) -> None:
    root = engine.diagnose(Source("train.log", data=PARENT.encode())).root_cause
    assert root is not None
    assert root.category == "unknown"


def test_steps_that_slurmd_is_done_with_did_not_end_well(engine: Engine) -> None:
    text = (
        "[2020-12-14T08:59:01.890] launch task 63532.0 request from UID:5001  GID:5001 HOST:10.10.0.106 PORT:63195\n"
        "[2020-12-14T09:43:55.500] [63532.0] error: *** STEP 63532.0 ON cn106 CANCELLED AT 2020-12-14T09:43:55 ***\n"
        "[2020-12-14T09:43:55.502] [63532.extern] done with job\n"
        "[2020-12-14T09:44:58.306] [63532.0] done with job\n"
    )
    found = engine.diagnose(Source("slurmd.log", data=text.encode()))
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.category == "scheduler"
