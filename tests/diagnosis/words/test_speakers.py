"""Last words that no rule knows belong to the component that speaks them."""

from __future__ import annotations

import pytest

from triage import Engine, Source


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("gpu-03:812:990 [2] NCCL WARN NET/OFI Couldn't grow the frobnicator. RC: -22, ERROR: Invalid argument", "network-config"),
        ("slurmstepd: error: frobnicator plugin refused the step", "scheduler"),
        ("nvidia-container-cli: fatal: frobnicator failed", "config"),
        ("slurmstepd: error: pyxis: frobnicator: couldn't get the gid", "config"),
        ("LustreError: 11-0: fatal: frobnicator failed", "storage"),
        ("amdgpu 0000:c5:00.0: fatal: frobnicator failed", "driver-or-version"),
        ("FATAL: the frobnicator failed", "unknown"),
    ],
)  # fmt: skip
def test_who_speaks_tells_the_kind(engine: Engine, words: str, category: str) -> None:
    log = f"INFO trainer: step 12 loss 2.1\n{words}\n"
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == category
    assert root.confidence <= 0.4
    assert "frobnicator" in root.evidence[0].text


def test_a_warning_of_nccl_that_is_got_over_is_none(engine: Engine) -> None:
    log = (
        "gpu-03:812:990 [2] NCCL WARN NET/OFI Couldn't grow the frobnicator, falling back to the default\n"
        "INFO trainer: step 12 loss 2.1\nINFO trainer: step 13 loss 2.0\n"
    )
    assert engine.diagnose(Source("job.err", data=log.encode())).verdict == "healthy"


@pytest.mark.parametrize("daemon", ["slurmstepd", "slurmstepd-gpu3"])
def test_what_the_step_daemon_refused_comes_before_the_exit_of_its_tasks(engine: Engine, daemon: str) -> None:
    log = (
        f"{daemon}: error: mpi/pmi2: failed to read PMI1 init command\n"
        "srun: error: gpu3: tasks 0-7: Exited with exit code 1\n"
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "scheduler"
    assert "PMI1" in root.evidence[0].text


def test_the_step_daemons_note_of_a_step_that_ended_is_no_reason(engine: Engine) -> None:
    log = (
        "ERROR: the frobnicator must be given at least 4 nodes\n"
        "srun: error: gpu3: task 3: Exited with exit code 1\n"
        "slurmstepd: error: *** STEP 5.0 ON gpu3 CANCELLED AT 2026-01-01T00:00:00 ***\n"
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "config"


def test_words_come_before_the_exit_code_that_follows_them(engine: Engine) -> None:
    log = (
        "ERROR: the frobnicator must be given at least 4 nodes\n"
        "--------------------------------------------------------------------------\n"
        "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
        "the job to be terminated. The first process to do so was:\n\n"
        "  Process name: [[63697,1],2]\n  Exit code:    1\n"
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("config", 2)
    assert "frobnicator" in root.evidence[0].text


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("ERROR: insufficient memory on accelerator for the frobnicator", "gpu-oom"),
        ("[frob] Error: cuFrobRecord failed with error 700", "cuda-kernel"),
        ("frob_queue: hipFrobAsync() failed (error code = HIP:1)", "cuda-kernel"),
        ("frobnicator: symbol lookup error: ./frob: undefined symbol: frob_v2", "driver-or-version"),
        ("ERROR: Lost atoms: original 4000 current 3991", "numerics"),
        ("ERROR: frobnicator: bind: address already in use", "port-conflict"),
        ("frob.cc:41 Assertion `frob' failed: frob 0x51", "rank-crash"),
        ("frobd: ERROR api_key not configured", "auth-or-hub"),
        ("License checkout failed: frobd is not running on lic1", "auth-or-hub"),
        ("frob client error: could not connect to 10.7.7.7:4411", "network-config"),
        ("[F 11:11] Port 7007 is in use by another frob", "port-conflict"),
        ("frob.error: OpenCV(4.1.1) frob.cpp:12: error: !frob.empty()", "data-loading"),
    ],
)
def test_what_they_name_tells_the_kind(engine: Engine, words: str, category: str) -> None:
    log = f"building the frobnicator ... done\n{words}\nSIGABRT\n"
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == category
    assert root.confidence <= 0.5
    assert words in root.evidence[0].text


def test_an_abort_is_explained_by_what_was_said_before_it(engine: Engine) -> None:
    log = (
        "frob_queue: hipFrobAsync() failed (error code = HIP:1)\n"
        "terminate called without an active exception\n"
        "srun: error: node7: task 11: Aborted (core dumped)\n"
        "srun: error: node7: tasks 0-10,12-15: Killed\n"
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("cuda-kernel", 11)


def test_an_abort_without_words_stays_a_crash(engine: Engine) -> None:
    log = "frobnicating\nsrun: error: node7: task 11: Aborted (core dumped)\nsrun: error: node7: tasks 0-10,12-15: Killed\n"
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 11)


def test_the_one_rank_that_aborted_met_the_error_of_its_gpu(engine: Engine) -> None:
    log = (
        "MPI_ABORT was invoked on rank 5 in communicator MPI_COMM_WORLD\nwith errorcode 1.\n"
        "ERROR: unspecified launch failure in /opt/frob/alloc.cuh at line 12 (error-code 4)\n"
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("cuda-kernel", 5)


@pytest.mark.parametrize(
    "log",
    [
        "step 8 validation error: 0.31\nstep 9 validation error: 0.30\n",
        "Port 7007 is in use, trying the next one\nfrob listens on 7008\nstep 3 loss 0.2\nstep 4 loss 0.2\n",
        "cudaGetDeviceCount returned 8\nResult = PASS\n",
    ],
)
def test_words_of_trouble_that_say_none(engine: Engine, log: str) -> None:
    assert engine.diagnose(Source("job.out", data=log.encode())).root_cause is None


@pytest.mark.parametrize(
    ("words", "category"),
    [
        ("fatal: container ran out of memory in the frobnicator", "host-oom"),
        ("fatal: the worker 3 ran out of memory", "host-oom"),
        ("fatal: worker ran out of memory on the GPU", "gpu-oom"),
        ("fatal: frobnicator: out of memory", "gpu-oom"),
    ],
)
def test_whose_memory_ran_out(engine: Engine, words: str, category: str) -> None:
    log = f"INFO trainer: step 12 loss 2.1\n{words}\n"
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == category
