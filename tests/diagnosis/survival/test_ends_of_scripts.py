"""What scripts say and do at their ends, and whether it proves anything of the work."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def verdict(engine: Engine, *lines: str) -> str:
    return engine.diagnose(Source("job.log", data="\n".join(lines).encode())).verdict


STEPS = [f"step {at} loss {3 - at / 500:.3f}" for at in range(0, 100, 10)]
DENIED = (
    'ERROR "cp /out/m.safetensors s3://m/run7/m.safetensors": AccessDenied: Access Denied status code: 403'
)
GAVE_UP = "Exiting because a job execution failed. Look above for error message"


@pytest.mark.parametrize("error", [DENIED, GAVE_UP, "make: *** [Makefile:12: train] Error 2"])
@pytest.mark.parametrize(
    "end", ["exit code: 0", "done", "==== finished at Mon Mar  2 11:02:13 UTC 2026 ===="]
)
def test_what_a_script_says_below_an_error_proves_nothing(engine: Engine, error: str, end: str) -> None:
    assert verdict(engine, *STEPS, error, end) == "failed"


@pytest.mark.parametrize(
    "said",
    [
        "cp /out/m.safetensors s3://m/run7/m.safetensors",
        "make: [Makefile:14: clean] Error 1 (ignored)",
        "This progress looks :) because there were failed tasks but they all succeeded in a retry",
    ],
)
def test_what_a_script_says_below_what_went_well_is_its_end(engine: Engine, said: str) -> None:
    assert verdict(engine, *STEPS, said, "exit code: 0") == "healthy"


RESULT = (
    "============ Serving Benchmark Result ============",
    "Successful requests:                     1000      ",
    "Benchmark duration (s):                  61.20     ",
    "==================================================",
)
KILLED = "bench.sh: line 33:   712 Killed                  vllm serve /models/m > server.log 2>&1"


@pytest.mark.parametrize(
    "below",
    [
        ["+ kill -9 712", KILLED],
        ["+ pkill -f 'vllm serve'", KILLED.replace("Killed", "Terminated")],
        [KILLED],
    ],
)
def test_a_server_that_its_own_script_ends_after_the_test_has_not_failed(
    engine: Engine, below: list[str]
) -> None:
    assert verdict(engine, *RESULT, *below) == "healthy"


def test_a_server_that_is_killed_before_the_test_has_failed(engine: Engine) -> None:
    assert verdict(engine, "+ vllm bench serve --model /models/m", KILLED, "done") == "failed"


def test_who_interrupts_ranks_that_all_have_come_to_their_last_step_loses_nothing(engine: Engine) -> None:
    def steps(last: int) -> list[str]:
        return [
            f"[rank {rank}] step {at}/400 loss 2.1" for at in range(20, last + 1, 20) for rank in range(4)
        ]

    stop = [
        "Traceback (most recent call last):",
        '  File "/w/train.py", line 188, in main',
        "    time.sleep(1)",
        "KeyboardInterrupt",
    ]
    assert verdict(engine, *steps(400), *stop) == "healthy"
    assert verdict(engine, *steps(200), *stop) == "failed"


@pytest.mark.parametrize(
    "error",
    [
        "mkdir: cannot create directory '/out': File exists",
        "grep: /tmp/x: No such file or directory",
        "ERROR: tensorboard not installed",
    ],
)
def test_what_a_script_meets_below_the_good_end_of_its_program_it_does_without(
    engine: Engine, error: str
) -> None:
    assert verdict(engine, *STEPS, "training finished", error, "exit code: 0") == "healthy"


def test_steps_that_are_left_out_for_nan_to_the_end_make_nothing(engine: Engine) -> None:
    def skipped(first: int, last: int) -> list[str]:
        return [f"step {at}: grad norm is nan, skipping update" for at in range(first, last)]

    assert verdict(engine, *STEPS, *skipped(100, 130), "training finished") == "failed"
    back = [f"step {at} loss 2.1" for at in range(130, 140)]
    assert verdict(engine, *STEPS, *skipped(100, 130), *back, "training finished") == "healthy"


def test_an_evaluation_of_no_samples_has_no_result(engine: Engine) -> None:
    assert verdict(engine, *STEPS, "evaluation finished: n=0 accuracy=nan") == "failed"
    assert verdict(engine, *STEPS, "evaluation finished: n=512 accuracy=0.71") == "healthy"
