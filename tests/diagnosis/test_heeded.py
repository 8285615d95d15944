"""Exceptions that count for nothing where there is anything else."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source

SITE = "/opt/venv/lib/python3.11/site-packages"
THREAD = (
    "Exception in thread Thread-15:\nTraceback (most recent call last):\n"
    '  File "/usr/lib/python3.11/threading.py", line 926, in _bootstrap_inner\n    self.run()\n'
    f'  File "{SITE}/wandb/sdk/interface/interface.py", line 550, in _communicate_async\n'
    '    raise Exception("The backend process has shutdown")\nException: The backend process has shutdown\n'
)
OWN = (
    'Traceback (most recent call last):\n  File "/work/train.py", line 41, in <module>\n    main()\n'
    '  File "/work/train.py", line 31, in main\n    run(batch)\nZeroDivisionError: division by zero\n'
)
INTERRUPT = (
    f'Traceback (most recent call last):\n  File "{SITE}/wandb/sdk/wandb_init.py", line 1166, in init\n    wi.setup(kwargs)\n'
    "KeyboardInterrupt\n\nDuring handling of the above exception, another exception occurred:\n\n"
    'Traceback (most recent call last):\n  File "/work/train.py", line 29, in <module>\n    wandb.init(config=args)\n'
    f'  File "{SITE}/wandb/sdk/wandb_init.py", line 1191, in init\n    assert logger\nAssertionError\n'
)
DESTRUCTOR = (
    "preparing the pairs\nException ignored in: <function _Iter.__del__ at 0x0254E373BEE8>\n"
    "Traceback (most recent call last):\n"
    f'  File "{SITE}/torch/utils/data/dataloader.py", line 1328, in __del__\n    self._shutdown_workers()\n'
    "AttributeError: '_Iter' object has no attribute '_workers'\n"
)


def told(engine: Engine, log: str) -> Diagnosis:
    return engine.diagnose(Source(name="job.err", data=log.encode()))


def test_what_a_trackers_thread_raised_is_no_cause_beside_the_programs_own(engine: Engine) -> None:
    for log in (THREAD + OWN, OWN + THREAD):
        root = told(engine, log).root_cause
        assert root is not None and root.category == "user-code"
        assert "ZeroDivisionError" in root.evidence[0].text


def test_what_a_tracker_raised_is_told_where_nothing_else_is(engine: Engine) -> None:
    assert told(engine, THREAD).verdict == "failed"


def test_what_is_raised_while_an_interrupt_is_handled_comes_of_it(engine: Engine) -> None:
    root = told(engine, INTERRUPT).root_cause
    assert root is not None and root.category in {"scheduler", "rank-crash"}
    assert any("KeyboardInterrupt" in shown.text for shown in root.evidence)


def test_of_a_log_that_says_only_what_python_ignored_nothing_is_known(engine: Engine) -> None:
    assert told(engine, DESTRUCTOR).verdict == "inconclusive"
    steps = "".join(f"step {n} | loss 2.{n} | lr 1.0e-04\n" for n in range(1, 9))
    assert told(engine, steps + DESTRUCTOR).verdict == "healthy"


@pytest.mark.parametrize(
    ("log", "category"),
    [
        (OWN + "/work/job.sh: line 24: N: command not found\n", "user-code"),
        ("/work/job.sh: line 24: activate_all: command not found\n" + OWN, "config"),
        (OWN + "/work/job.sh: line 24: torchrun: command not found\n", "config"),
    ],
)
def test_a_command_that_is_missed_after_an_exception_did_not_lead_to_it(
    engine: Engine, log: str, category: str
) -> None:
    root = told(engine, log).root_cause
    assert root is not None and root.category == category


def test_what_a_tracker_lost_before_the_program_spoke_its_last_word_is_nothing(engine: Engine) -> None:
    work = "".join(f"{n:>5}/2000 | loss {4 - n / 1000:.3f}\n" for n in range(50, 2001, 50))
    lost = "wandb: ERROR Failed to upload file: config.yaml\n"
    assert told(engine, f"{work}{lost}final loss 1.998\n").verdict == "healthy"
    assert told(engine, f"{work}{lost}").verdict != "healthy"
