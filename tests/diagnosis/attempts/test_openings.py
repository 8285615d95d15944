"""Logs to which several runs were appended, which begin alike and say nothing else of it."""

from __future__ import annotations

from triage import Engine, Source

BANNER = "Job {0} starts on gpu{0}\nModules of this partition are loaded\nUsing the environment of train\n"
FAILED = (
    'Traceback (most recent call last):\n  File "/w/train.py", line 6, in main\n    run(cfg["warmup"])\n'
    "           ~~~^^^^^^^^^^\nKeyError: 'warmup'\n"
)
STEPS = "".join(f"step {n} | loss 2.{n} | lr 1.0e-04\n" for n in range(1, 9))


def log(*texts: str) -> Source:
    """What was appended to one file."""
    return Source("train.log", data="".join(texts).encode())


def test_a_run_that_begins_as_a_failed_one_did_is_judged_by_itself(engine: Engine) -> None:
    found = engine.diagnose(log(BANNER.format(1), FAILED, BANNER.format(2), STEPS))
    assert found.verdict == "healthy"
    assert [attempt.verdict for attempt in found.attempts] == ["failed", "healthy"]
    again = engine.diagnose(log(BANNER.format(1), STEPS, FAILED, BANNER.format(2), STEPS, FAILED))
    assert again.root_cause is not None and again.root_cause.category == "config"
    assert len(again.attempts) == 2


def test_what_begins_while_another_has_not_ended_is_the_same_run(engine: Engine) -> None:
    found = engine.diagnose(log(BANNER.format(1), STEPS, BANNER.format(2), FAILED, BANNER.format(3), FAILED))
    assert found.verdict == "failed"
    assert not found.attempts


def test_one_line_that_stands_again_begins_nothing(engine: Engine) -> None:
    line = BANNER.splitlines()[1] + "\n"
    found = engine.diagnose(log(BANNER.format(1), FAILED, line, "cleaning up\n"))
    assert found.verdict == "failed"
    assert not found.attempts


def test_where_a_source_begins_is_told_nowhere(engine: Engine) -> None:
    found = engine.diagnose(log(BANNER.format(1), FAILED, BANNER.format(2), FAILED))
    assert not any(group.rule_id == "progress.opens" for group in found.findings)


def test_what_goes_wrong_below_python_opens_no_run(engine: Engine) -> None:
    socket = (
        "[W1122 18:33:5{0}.344420114 socket.cpp:469] [c10d] waitForInput: poll for socket SocketImpl(fd={0}) returned 0\n"
        "[W1122 18:33:5{0}.345197848 socket.cpp:494] [c10d] waitForInput: socket SocketImpl(fd={0}) timed out after 6000ms\n"
    )
    texts = "".join(socket.format(n) + FAILED for n in range(4))
    assert not engine.diagnose(log("checking the mounts\n", texts)).attempts


def test_the_code_that_tracebacks_quote_opens_nothing(engine: Engine) -> None:
    """Whatever label stands before the lines of ranks, a traceback is where a program ends."""
    steps = "".join(f"rank {r} | step {s} | loss 2.{s} | lr 1.0e-04\n" for s in range(3) for r in range(4))
    raised = (
        "Traceback (most recent call last):",
        '  File "/app/train.py", line 187, in main',
        "    dist.all_reduce(gradients)",
        '  File "/opt/torch/distributed/distributed_c10d.py", line 2900, in all_reduce',
        "    work.wait()",
        "RuntimeError: [unbound_buffer.cc:81] Timed out waiting 600000ms for recv operation to complete",
    )
    found = engine.diagnose(log(steps, *(f"rank {r} | {line}\n" for r in (0, 1, 3) for line in raised)))
    assert not found.attempts
    assert found.root_cause is not None and found.root_cause.origin.rank == 2
