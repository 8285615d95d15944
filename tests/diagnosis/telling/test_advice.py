"""What is advised fits what was captured: the signal that ended a rank, the worker that died, the calls to compare."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source
from triage.model import Hypothesis

TABLE = (
    "E1121 22:46:09.100000 9 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: {code})"
    " local_rank: 1 (pid: 12) of binary: /usr/bin/python3\n"
    "Root Cause (first observed failure):\n[0]:\n"
    "  time      : 2026-11-21_22:46:09\n"
    "  host      : node7\n"
    "  rank      : 1 (local_rank: 1)\n"
    "  exitcode  : {code} (pid: 12)\n"
    "  error_file: <N/A>\n"
    "  traceback : Signal {number} ({name}) received by PID 12\n"
)


def diagnosed(engine: Engine, log: str) -> Diagnosis:
    return engine.diagnose([Source("job.log", data=log.encode())])


def root(engine: Engine, log: str) -> Hypothesis:
    cause = diagnosed(engine, log).root_cause
    assert cause is not None
    return cause


@pytest.mark.parametrize(
    ("number", "name", "sender", "command"),
    [
        (24, "SIGXCPU", "processor time", "ulimit -t"),
        (25, "SIGXFSZ", "ulimit -f", "ulimit -t; ulimit -f"),
        (14, "SIGALRM", "a timer", "setitimer"),
    ],
)
def test_a_signal_that_only_one_thing_sends_names_it(
    engine: Engine, number: int, name: str, sender: str, command: str
) -> None:
    cause = root(engine, TABLE.format(code=-number, number=number, name=name))
    assert cause.rule_id == "ledger.killed"
    assert sender in cause.summary
    assert command in (cause.remediation[0].run or "")
    assert not any("native stack" in step.do for step in cause.remediation)


def test_a_kill_asks_the_kernel_first(engine: Engine) -> None:
    cause = root(engine, TABLE.format(code=-9, number=9, name="SIGKILL"))
    assert cause.remediation[0].do.startswith("Ask the kernel")


LOADER = (
    "[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "/home/u/train.py", line 3, in <module>\n'
    "[rank0]:     for batch in loader:\n"
    "[rank0]: RuntimeError: DataLoader worker (pid 37) is killed by signal: {signal}. \n"
)


def test_a_loader_worker_that_crashed_is_no_question_of_memory(engine: Engine) -> None:
    killed = root(engine, LOADER.format(signal="Killed"))
    crashed = root(engine, LOADER.format(signal="Segmentation fault"))
    assert "memory killer" in killed.summary
    assert "memory" not in crashed.summary
    assert "dmesg" in (killed.remediation[0].run or "")
    assert "faulthandler" in (crashed.remediation[0].run or "")
    assert not any("hold less" in step.do for step in crashed.remediation)


def test_a_stop_from_outside_is_named_as_a_signal(engine: Engine) -> None:
    line = (
        "W1121 17:10:13.963000 7 torch/distributed/elastic/agent/server/api.py:739] "
        "Received 15 death signal, shutting down workers\n"
    )
    assert "SIGTERM" in root(engine, line).summary


def test_an_exception_of_a_package_is_no_host(engine: Engine) -> None:
    log = (
        "[rank3]: Traceback (most recent call last):\n"
        '[rank3]:   File "/home/u/train.py", line 8, in frame\n'
        "[rank3]:     img = cv2.cvtColor(img, cv2.COLOR_BGR2RGB)\n"
        "[rank3]: cv2.error: OpenCV(4.9.0) /io/opencv/modules/imgproc/src/color.cpp:182: error: "
        "(-215:Assertion failed) !_src.empty() in function 'cvtColor'\n"
    )
    cause = root(engine, log)
    assert (cause.origin.rank, cause.origin.host) == (3, None)


def test_what_joins_two_tracebacks_is_no_evidence(engine: Engine) -> None:
    log = (
        "[rank0]: Traceback (most recent call last):\n"
        '[rank0]:   File "/v/site-packages/httpx/_models.py", line 829, in raise_for_status\n'
        "[rank0]:     raise HTTPStatusError(message)\n"
        "[rank0]: httpx.HTTPStatusError: Client error '401 Unauthorized' for url 'https://huggingface.co/m/n'\n"
        "[rank0]: For more information check: https://developer.mozilla.org/en-US/docs/Web/HTTP/Status/401\n"
        "\n"
        "[rank0]: The above exception was the direct cause of the following exception:\n"
        "\n"
        "[rank0]: Traceback (most recent call last):\n"
        '[rank0]:   File "/home/u/train.py", line 9, in <module>\n'
        "[rank0]:     hf_hub_download('m/n', 'config.json')\n"
        "[rank0]: huggingface_hub.errors.GatedRepoError: 401 Client Error.\n"
        "[rank0]: \n"
        "[rank0]: Cannot access gated repo for url https://huggingface.co/m/n/resolve/main/config.json.\n"
        "[rank0]: Access to model m/n is restricted. You must have access to it and be authenticated to access it.\n"
    )
    shown = [e.text for e in root(engine, log).evidence]
    assert not any("direct cause" in text.split("\n")[0] for text in shown)
    assert not any("For more information" in text.split("\n")[0] for text in shown)
