"""Who falls silent, is refused or ends in the midst of a run that is well all the same, and those who look alike and are not."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def verdict(engine: Engine, *lines: str) -> str:
    return engine.diagnose(Source("job.log", data="\n".join(lines).encode())).verdict


def turns(silent: int, until: int, words: str, *, below: str | None = None) -> list[str]:
    lines = []
    for at in range(1, 30):
        for actor in range(5):
            if actor != silent or at <= until:
                lines.append(f"[{at * 5 + actor}/150] actor {actor}: episode played")
            if actor == silent and at == until:
                lines += [words, *([below] if below else [])]
    return [*lines, "all actors joined"]


CRASHED = "actor 2: crashed: EOFError: simulator gone"


@pytest.mark.parametrize(
    "below",
    [
        "starting replacement actor 7",
        "respawning actor 2",
        "actor 2 is restarted on node3",
        "scaling down from 5 to 4 actors",
    ],
)
def test_who_has_a_successor_is_not_missed(engine: Engine, below: str) -> None:
    assert verdict(engine, *turns(2, 12, CRASHED, below=below)) == "healthy"


@pytest.mark.parametrize("below", [None, "no replacement is at hand", "actor 4 is restarted on node3"])
def test_who_has_none_is(engine: Engine, below: str | None) -> None:
    assert verdict(engine, *turns(2, 12, CRASHED, below=below)) == "failed"


def test_who_leaves_an_empty_queue_has_done_its_work(engine: Engine) -> None:
    assert verdict(engine, *turns(3, 14, "actor 3: queue closed, exited (idle timeout)")) == "healthy"
    assert verdict(engine, *turns(3, 14, "actor 3: exited with SIGBUS")) == "failed"


def shares(last: int, *, told: bool) -> list[str]:
    lines = [f"[rank {rank}] {last if rank == 3 else 40} files assigned" for rank in range(4) if told]
    lines += [
        f"[rank {rank}] processed {at} files"
        for at in range(1, 41)
        for rank in range(4)
        if rank != 3 or at <= 28
    ]
    return [*lines, "reduce over all partial results"]


def test_who_had_told_of_so_many_is_through_with_them(engine: Engine) -> None:
    assert verdict(engine, *shares(28, told=True)) == "healthy"
    assert verdict(engine, *shares(40, told=True)) == "failed"
    assert verdict(engine, *shares(40, told=False)) == "failed"


def refused(path: str = "/generate") -> list[str]:
    return [f'10.0.3.9 - - [04/Mar/2026:09:00:{at:02d}] "POST {path} HTTP/1.1" 503 19' for at in range(12)]


@pytest.mark.parametrize(
    "up",
    [
        "warm-up finished, accepting requests",
        "model b is ready",
        "INFO:     Application startup complete.",
    ],
)
def test_what_was_refused_before_a_server_was_up_is_no_error(engine: Engine, up: str) -> None:
    assert verdict(engine, "serving on 0.0.0.0:9000, warming up", *refused(), up) == "healthy"


@pytest.mark.parametrize(
    "below", ["model b is not ready", "waiting until the engine is ready", "cache pruned"]
)
def test_what_is_refused_to_the_end_is(engine: Engine, below: str) -> None:
    assert verdict(engine, "serving on 0.0.0.0:9000", *refused(), below) == "failed"


def saving(gone: str) -> list[str]:
    lines = [f"[rank 0] step {at} loss {3 - at / 500:.3f}" for at in range(0, 100, 10)]
    lines += ["[rank 0] checkpoint of step 100 queued for background write", f"[rank 0] {gone}"]
    lines += [f"[rank 0] step {at} loss {3 - at / 500:.3f}" for at in range(100, 200, 10)]
    return [*lines, "[rank 0] saving checkpoint of step 200", "[rank 0] step 200 loss 2.600"]


def test_what_writes_checkpoints_may_end_when_it_has_written_them(engine: Engine) -> None:
    assert (
        verdict(engine, *saving("background checkpoint thread exited after finalising step 100")) == "healthy"
    )
    assert verdict(
        engine, *saving("checkpoint step_90 is corrupt (crashed while writing?), using step_80")
    ) == ("healthy")
    assert (
        verdict(engine, *saving("background checkpoint thread exited in the midst of step 100")) == "failed"
    )


def steps(*below: str) -> list[str]:
    return [
        *(f"2026-03-04 09:00:{at:02d},000 INFO step {at}/9 loss {3 - at / 9:.3f}" for at in range(9)),
        *below,
    ]


def test_what_is_tidied_away_or_measured_beside_the_work_is_no_error(engine: Engine) -> None:
    tidied = (
        "2026-03-04 09:01:00,000 ERROR Failed to remove temporary folder /tmp/x: OSError(39, 'not empty')"
    )
    lost = "2026-03-04 09:01:00,000 ERROR Failed to write folder /data/x: OSError(39, 'not empty')"
    assert verdict(engine, *steps(tidied, "exit code: 0")) == "healthy"
    assert verdict(engine, *steps(lost, "exit code: 0")) == "failed"


def test_what_is_only_warned_of_right_below_the_good_end_takes_nothing_from_it(engine: Engine) -> None:
    done = "2026-03-04 09:01:00,000 INFO Training finished."
    why = "hub upload: ConnectionError: Max retries exceeded, giving up"
    assert verdict(engine, *steps(done, f"2026-03-04 09:01:01,000 WARNING {why}")) == "healthy"
    assert verdict(engine, *steps(f"2026-03-04 09:01:01,000 WARNING {why}")) == "failed"


INTERRUPT = (
    "Traceback (most recent call last):",
    '  File "/app/train.py", line 210, in <module>',
    "    main()",
    "KeyboardInterrupt",
)


def test_who_interrupts_a_program_that_said_that_it_is_done_loses_nothing(engine: Engine) -> None:
    done = "2026-03-04 09:01:00,000 INFO training complete; press Ctrl-C to stop the dashboard"
    assert verdict(engine, *steps(done, *INTERRUPT)) == "healthy"
    assert verdict(engine, *steps(*INTERRUPT)) == "failed"
    again = "2026-03-04 09:01:10,000 INFO step 1/9 loss 2.900"
    assert verdict(engine, *steps(done, again, *INTERRUPT)) == "failed"


def test_an_error_that_is_announced_as_wanted_is_none(engine: Engine) -> None:
    shapes = "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
    assert verdict(engine, *steps(f"got the expected remote error: {shapes}", "all done")) == "healthy"
    assert verdict(engine, *steps(f"unexpected remote error: {shapes}")) == "failed"


def test_trials_that_all_came_to_their_end_show_that_ray_replaced_what_it_lost(engine: Engine) -> None:
    lost = "(raylet) node_manager.cc:3193: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers"
    assert verdict(engine, lost, "Trial status: 1 TERMINATED") == "healthy"
    assert verdict(engine, lost, "Trial status: 1 TERMINATED | 1 ERROR") == "failed"


def logs(last: str) -> list[Source]:
    return [
        Source(
            f"rank{rank}.log",
            data="\n".join(
                [
                    *(f"step {at}/12 loss {3 / at:.3f}" for at in range(1, 13)),
                    last if rank < 3 else "peak memory 31 GB",
                ]
            ).encode(),
        )
        for rank in range(4)
    ]


def test_who_takes_leave_has_lost_nobody(engine: Engine) -> None:
    assert engine.diagnose(logs("bye")).verdict != "failed"
    assert engine.diagnose(logs("ring is broken")).verdict == "failed"


def test_a_few_of_very_many_may_fail(engine: Engine) -> None:
    assert verdict(engine, *steps("epoch done, 3 of 2000 samples failed to decode")) == "healthy"
    assert verdict(engine, *steps("epoch done, 1900 of 2000 samples failed to decode")) != "healthy"


def in_a_thread(path: str) -> list[str]:
    return [
        "Exception in thread SenderThread:",
        "Traceback (most recent call last):",
        '  File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner',
        "    self.run()",
        f'  File "{path}", line 3, in run',
        "    self._process(record)",
        "BrokenPipeError: [Errno 32] Broken pipe",
    ]


def test_what_a_trackers_thread_raises_takes_nothing_from_the_good_end_below(engine: Engine) -> None:
    done = "2026-03-04 09:01:00,000 INFO training complete"
    tracker = in_a_thread("/venv/lib/python3.11/site-packages/wandb/sdk/internal/internal.py")
    assert verdict(engine, *steps(*tracker, done)) == "healthy"
    assert verdict(engine, *steps(*in_a_thread("/app/pipeline.py"), done)) == "failed"
