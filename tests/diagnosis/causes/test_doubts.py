"""What the cause may be instead is shown below it."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, text_source


def diagnosed(engine: Engine, log: str) -> Diagnosis:
    return engine.diagnose_sources([text_source(log, name="job.err")])


@pytest.mark.parametrize(
    ("code", "name", "category"), [(-9, "SIGKILL", "host-oom"), (-7, "SIGBUS", "shm"), (-11, "SIGSEGV", None)]
)
def test_who_may_have_sent_a_signal(engine: Engine, code: int, name: str, category: str | None) -> None:
    log = (
        f"E0302 10:00:01.000000 41 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: {code}) "
        "local_rank: 1 (pid: 77) of binary: /usr/bin/python3\n"
        "train.py FAILED\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-03-02_10:00:01\n"
        f"  host      : n1\n  rank      : 1 (local_rank: 1)\n  exitcode  : {code} (pid: 77)\n"
        f"  error_file: <N/A>\n  traceback : Signal {-code} ({name}) received by PID 77\n"
    )
    found = diagnosed(engine, log)
    assert found.root_cause is not None
    assert (found.root_cause.category, found.root_cause.origin.rank) == ("rank-crash", 1)
    maybe = [h for h in found.alternatives if h.category == category]
    assert bool(maybe) is (category is not None)
    assert all(h.confidence < 0.2 and h.origin.rank == 1 for h in maybe)


def test_a_supposition_may_be_what_its_words_are_of(engine: Engine) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/home/user/search.py", line 12, in main\n'
        "    study.tell(trial, value)\n"
        "zork.OperationalError: the store behind the study: disk is full\n"
    )
    found = diagnosed(engine, log)
    assert found.root_cause is not None
    told = [found.root_cause, *found.alternatives]
    assert "storage" in {h.category for h in told}


def test_a_known_cause_has_no_doubts(engine: Engine) -> None:
    log = "OSError: [Errno 28] No space left on device: '/ckpt/step_100.pt'\n"
    found = diagnosed(engine, log)
    assert found.root_cause is not None
    assert not [h for h in found.alternatives if h.rule_id.startswith(("unknown.like-", "ledger.behind-"))]


@pytest.mark.parametrize(
    ("module", "kinds"), [("src", ["config", "driver-or-version"]), ("apex", ["driver-or-version", "config"])]
)
def test_a_missing_module_may_be_a_package_or_the_programs_own(
    engine: Engine, module: str, kinds: list[str]
) -> None:
    log = (
        'Traceback (most recent call last):\n  File "/work/run.py", line 5, in <module>\n'
        f"    from {module} import main\nModuleNotFoundError: No module named '{module}'\n"
    )
    found = diagnosed(engine, log)
    assert found.root_cause is not None
    assert [found.root_cause.category, *(h.category for h in found.alternatives)] == kinds
