"""What programs print of an exception that they catch: its words, and mostly not its name."""

from __future__ import annotations

import pytest

from triage import Engine, Source


@pytest.mark.parametrize(
    "words",
    [
        "name 'nseqs' is not defined",
        "'tuple' object does not support item assignment",
        "Planner.run() missing 1 required positional argument: 'goal'",
        "list index out of range",
    ],
)
def test_what_python_says_of_a_slip_is_the_programs_own(engine: Engine, words: str) -> None:
    log = f"2026-03-01 10:00:00,709 - root - INFO - planning\n2026-03-01 10:00:07,709 - root - ERROR - Error running the planner: {words}\n"
    found = engine.diagnose(Source(name="job.err", data=log.encode()))
    assert found.root_cause is not None
    assert found.root_cause.category == "user-code"
    assert words in found.root_cause.evidence[0].text


@pytest.mark.parametrize(
    ("shown", "category"),
    [
        ("AttributeError(\"'NoneType' object has no attribute 'shards'\")", "user-code"),
        ("TypeError(\"Encoder.__init__() got an unexpected keyword argument 'dimm'\")", "user-code"),
        ("RuntimeError('No space left on device while the index was written')", "storage"),
    ],
)
def test_an_exception_shown_as_an_object_says_what_was_raised(
    engine: Engine, shown: str, category: str
) -> None:
    log = f"Error executing job with overrides: []\nError in call to target 'cluster.jobs.Encoder':\n{shown}\nfull_key: encoder\n"
    found = engine.diagnose(Source(name="job.err", data=log.encode()))
    assert found.root_cause is not None
    assert found.root_cause.category == category
    assert shown in found.root_cause.evidence[0].text


REFUSED = "2026-11-22 16:56:35,064 CRITICAL world size 4 is not divisible by tensor (2) x pipeline (3), refusing to start"


def test_an_error_that_mentions_a_known_fact_is_still_an_error(engine: Engine) -> None:
    log = f"2026-11-22 16:56:35,062 INFO reading the settings\n{REFUSED}\n"

    diagnosis = engine.diagnose(Source(name="job.err", data=log.encode()))

    assert diagnosis.verdict == "failed"
    assert diagnosis.root_cause is not None
    assert diagnosis.root_cause.category == "config"


def test_what_was_said_before_the_launcher_saw_processes_end_tells_why(engine: Engine) -> None:
    log = (
        f"2026-11-22 16:56:35,062 INFO 4 ranks answered\n{REFUSED}\n{REFUSED}\n"
        "W1122 16:56:36.157000 3478 torch/distributed/elastic/multiprocessing/api.py:1012] Sending process 3550 closing signal SIGTERM\n"
        "E1122 16:56:36.238000 3478 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 64) "
        "local_rank: 0 (pid: 3549) of binary: /opt/python\n"
        "Traceback (most recent call last):\n"
        '  File "/opt/torch/distributed/launcher/api.py", line 308, in launch_agent\n'
        "    raise ChildFailedError(\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "============================================================\n"
        "train.py FAILED\n"
    )

    cause = engine.diagnose(Source(name="job.err", data=log.encode())).root_cause

    assert cause is not None
    assert cause.category == "config"
    assert "refusing to start" in cause.evidence[0].text
    assert any("exitcode: 64" in piece.text for piece in cause.evidence)


def test_of_ranks_that_broke_off_one_after_the_other_the_first(engine: Engine) -> None:
    line = '{{"ts": 1795416{0}.1, "level": "{1}", "rank": {2}, "event": "{3}", "step": {4}}}\n'
    log = "".join(
        line.format(600 + s, "info", r, "step", s) for s in range(0, 9, 3) for r in (2, 0, 3, 1, 5, 4)
    )
    log += line.format(609, "error", 3, "halo_shape_differs", 9)
    log += "".join(line.format(610, "info", r, "step", 9) for r in (0, 1, 2))
    log += "".join(
        line.format(625 + n, "error", r, "neighbour_silent", 9 + n) for n, r in enumerate((4, 5, 0))
    )
    root = engine.diagnose([Source("ring.jsonl", data=log.encode())]).root_cause
    assert root is not None
    assert root.origin.rank == 3
    assert "halo_shape_differs" in root.evidence[0].text


def test_where_a_program_was_built_tells_nothing_of_its_error(engine: Engine) -> None:
    log = "frobnicator: [/nfs/user/build/frob/ring.cc:592] fatal: slot 46 of -1 is not closed\n"
    root = engine.diagnose([Source("job.err", data=log.encode())]).root_cause
    assert root is not None
    assert root.category != "storage"


def test_what_the_service_manager_announces_is_no_complaint(engine: Engine) -> None:
    log = (
        "Job for nvidia-fabricmanager.service failed because the control process exited with error code.\n"
        'See "systemctl status nvidia-fabricmanager.service" and "journalctl -xe" for details.\n'
        "Nov 15 14:15:47 node-7 systemd[1]: Starting NVIDIA fabric manager service...\n"
        "Nov 15 14:15:47 node-7 nv-fabricmanager[4177]: request to query NVSwitch device information from NVSwitch "
        "driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n"
        "Nov 15 14:15:47 node-7 systemd[1]: nvidia-fabricmanager.service: Control process exited, code=exited, "
        "status=1/FAILURE\n"
    )
    root = engine.diagnose([Source("journal.txt", data=log.encode())]).root_cause
    assert root is not None
    assert "Starting" not in root.evidence[0].text


@pytest.mark.parametrize(
    "flags", ["--nproc_per_node=4", "--nnodes=2 --node_rank=1 --rdzv_backend=c10d", "--nproc-per-node 8"]
)
def test_a_launch_command_in_an_error_does_not_hide_the_error(engine: Engine, flags: str) -> None:
    text = f"Error: could not run torchrun {flags} train.py on gpu-07\n"
    found = engine.diagnose(Source("job.err", data=text.encode()))
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.evidence[0].text.startswith("Error: could not run")


def test_a_number_that_is_reported_is_not_taken_for_the_complaint(engine: Engine) -> None:
    text = (
        "  > number of parameters on (tensor, pipeline) model parallel rank (1, 0): 888587776\n"
        "Exception occurred while running the worker's function init_worker: exception is ray::Worker.init_worker()\n"
        '  File "/work/worker.py", line 70, in sync_func\n'
        "    return func(*args, **kwargs)\n"
    )
    found = engine.diagnose(Source("job.err", data=text.encode()))
    assert found.verdict == "failed"
    assert found.root_cause is not None
    assert found.root_cause.evidence[0].text.startswith("Exception occurred while")
