"""Runs that are read while they go on, that are taken up where they were saved, and whose workers are replaced."""

from __future__ import annotations

import json

import pytest

from triage import Diagnosis, Engine, Source

CAUGHT = (
    'E 10:00:41 feeder:17] {0} {1} left out\nTraceback (most recent call last):\n  File "/srv/glaze/feed.py", line 14, in run\n'
    '    decode(i)\n  File "/srv/glaze/feed.py", line 8, in decode\n    raise ValueError(i)\nValueError: tile ends after {1} bytes\n'
)


def diagnose(engine: Engine, log: str) -> Diagnosis:
    return engine.diagnose(Source("job.log", data=log.encode()))


def fed(noun: str, rounds: int, end: str = "") -> str:
    parts = (
        CAUGHT.format(noun, n)
        + f"I 10:00:4{n % 10} trainer:18] epoch {k} it {at}/120 loss {3 - k - at / 50:.3f}\n"
        for k in range(rounds)
        for at, n in enumerate((5, 22, 39, 56, 73, 90, 107), 1)
    )
    return "".join(parts) + end


def test_a_log_may_be_cut_within_what_has_been_got_over_again_and_again(engine: Engine) -> None:
    assert diagnose(engine, fed("record", 2, CAUGHT.format("record", 5))).verdict == "healthy"
    once = "I 10:00:40 trainer:18] epoch 0 it 1/120 loss 3.1\n" * 3 + CAUGHT.format("record", 5)
    assert diagnose(engine, once).verdict == "failed"


@pytest.mark.parametrize(("last", "verdict"), [("retry 2/5", "healthy"), ("retry 5/5", "failed")])
def test_who_has_tries_left_is_still_trying(engine: Engine, last: str, verdict: str) -> None:
    lines = []
    for k in range(1, 120):
        lines.append(f"ep0 {k * 25}/10000 loss={9 - k * 0.02:.3f}")
        if k % 30 == 0:
            lines.append(f"read of /kiln/s/{k}.bin failed ([Errno 5] Input/output error), retry 1/5")
    lines.append(f"read of /kiln/s/9.bin failed ([Errno 5] Input/output error), {last}")
    assert diagnose(engine, "\n".join(lines) + "\n").verdict == verdict


SAVED = (
    "".join(f"   {n}0 steps  ce {4 - n / 10:.3f}\n" for n in range(1, 20))
    + "[spot] checkpoint kiln_190.pt written\nTerminated\n"
)


@pytest.mark.parametrize(
    ("below", "verdict"),
    [
        ("--- boot i-0a11\n[spot] found kiln_190.pt\n", "healthy"),
        ("--- boot i-0a11\n", "failed"),
    ],
)
def test_a_run_that_finds_what_was_saved_takes_it_up(engine: Engine, below: str, verdict: str) -> None:
    on = "".join(f"   {n}0 steps  ce {4 - n / 10:.3f}\n" for n in range(20, 36))
    assert diagnose(engine, SAVED + below + on).verdict == verdict
    assert diagnose(engine, SAVED).verdict == "failed"


@pytest.mark.parametrize(
    "again",
    [
        "supervisord[1]: spawned: actor-2 with pid 2314",
        "WARNING env_runner_group.py:1012 -- restored env runner 2",
    ],
)
def test_a_worker_that_is_replaced_is_no_end(engine: Engine, again: str) -> None:
    died = "supervisord[1]: exited: actor-2 (terminated by SIGSEGV (core dumped); not expected)"
    work = [f"learner: update {n * 50} return {n * 1.3:.1f}" for n in range(1, 40)]
    assert diagnose(engine, "\n".join([*work[:12], died, again, *work[12:]])).verdict == "healthy"
    assert diagnose(engine, "\n".join([*work[:12], died])).verdict == "failed"


def test_a_task_that_ray_runs_again_is_no_end(engine: Engine) -> None:
    died = (
        "(raylet) A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, "
        "check the logs for the dead worker. Worker ID: 01ab Node ID: 77 Worker IP address: 10.0.0.9 Worker port: 10031 "
        "Worker PID: 8123 Worker exit type: SYSTEM_ERROR"
    )
    stack = (
        "(fire pid=8123) *** SIGABRT received at time=1795387157 on cpu 0 ***\n"
        "(fire pid=8123) PC: @     0x7fad042a8eec  (unknown)  (unknown)\n(fire pid=8123) Fatal Python error: Aborted\n"
        "(fire pid=8123) Stack (most recent call first):\n"
        '(fire pid=8123)   File "/srv/kiln/fire.py", line 7 in fire'
    )
    again = "(raylet) Task fire failed. There are 3 retries remaining, so the task will be retried. Error: "
    done = "\n".join(f"{n}/12 tiles fired" for n in range(1, 13)) + "\nall tiles fired\n"
    assert diagnose(engine, f"{done}{died}\n{again}\n{stack}\n").verdict == "healthy"
    assert diagnose(engine, f"{done}{died}\n{stack}\n").verdict == "failed"


LEAVES = (
    "[rank{0}]:[W1120 11:00:01.120008677 ProcessGroupNCCL.cpp:1538] Warning: WARNING: destroy_process_group() was not called before"
    " program exit, which can leak resources.\n"
)
LOST = (
    "[rank{0}]:[W1120 11:00:04.310009777 ProcessGroupNCCL.cpp:1771] [PG ID 0 PG GUID 0(default_pg) Rank {0}] Failed to check the"
    ' "should dump" flag on TCPStore, (maybe TCPStore server has shut down too early), with error: failed to recv, got 0 bytes\n'
)


def test_who_has_left_loses_nobody(engine: Engine) -> None:
    work = "".join(f"{{'loss': {2 - n / 20:.3f}, 'epoch': {n}.0}}\n" for n in range(20))
    left = "".join(LEAVES.format(r) for r in (8, 9, 10))
    assert diagnose(engine, work + left + LOST.format(9)).verdict == "healthy"
    assert diagnose(engine, work + LOST.format(9)).verdict == "failed"


def test_words_of_a_good_end_do_not_make_good_a_result_that_was_lost(engine: Engine) -> None:
    work = "".join(f"step {n * 10} loss {4 - n / 10:.3f}\n" for n in range(1, 30))
    lost = "WARNING could not write {0}: [Errno 28] No space left on device\n"
    end = "Training complete\n"
    assert diagnose(engine, work + lost.format("out/final.safetensors") + end).verdict == "failed"
    more = "step 300 loss 0.9\nstep 310 loss 0.8\n"
    assert diagnose(engine, work + lost.format("out/best.safetensors") + more + end).verdict == "healthy"


def test_events_of_a_run_that_counts_are_no_waiting(engine: Engine) -> None:
    events = [
        {"ts": f"2026-10-09T03:{n:02}:00Z", "level": "info", "event": "step", "step": n} for n in range(40)
    ]
    assert diagnose(engine, "\n".join(map(json.dumps, events))).verdict == "healthy"
