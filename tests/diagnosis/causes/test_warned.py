"""What was only warned of, while the job went on."""

from __future__ import annotations

import pytest

from triage import Engine, Source


@pytest.mark.parametrize(
    ("level", "minute", "category"),
    [("W", 31, "scheduler"), ("W", 11, "compile-or-graph-capture"), ("E", 31, "compile-or-graph-capture")],
)
def test_an_exception_that_was_only_warned_of_is_got_over_in_another_log(
    engine: Engine, level: str, minute: int, category: str
) -> None:
    head = f"[rank3]:{level}0818 03:13:05.760000 24041 torch/_inductor/triton_bundler.py:228] [2/1] "
    told = [
        "Failed to reload kernels",
        "Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.12/site-packages/torch/_inductor/triton_bundler.py", line 226, in load',
        "    kernel.reload()",
        '  File "/opt/venv/lib/python3.12/site-packages/torch/_inductor/runtime/triton_heuristics.py", line 9, in reload',
        "    raise RuntimeError(",
        "RuntimeError: ('kernel not found at %s', '/tmp/triton/k')",
    ]
    stop = "[2026-08-18T03:35:55.011] error: *** JOB 3108 ON node1 CANCELLED AT 2026-08-18T03:35:55 DUE TO TIME LIMIT ***\n"
    err = "".join(f"{head}{line}\n" for line in told) + stop
    steps = "".join(
        f"7:  [2026-08-18 03:{minute}:0{n}.202442] iteration {n:8}/   18141 | consumed samples: {n * 288:12} | "
        f"elapsed time per iteration (ms): 1604.8 | lm loss: 2.{n}E+00 |\n"
        for n in range(1, 9)
    )
    found = engine.diagnose([Source("job.err", data=err.encode()), Source("job.out", data=steps.encode())])
    root = found.root_cause
    assert root is not None
    assert root.category == category


def test_a_service_that_nobody_needed_explains_nothing(engine: Engine) -> None:
    journal = (
        "Nov 15 14:15:47 n1 nv-fabricmanager[4177]: request to query NVSwitch device information from NVSwitch driver "
        "failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n"
        "Nov 15 14:15:47 n1 systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.\n"
    )
    log = (
        'Traceback (most recent call last):\n  File "/home/u/train.py", line 5, in main\n    x = model(batch)\n'
        "RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    found = engine.diagnose([Source("journal", data=journal.encode()), Source("job.err", data=log.encode())])
    assert found.root_cause is not None
    assert found.root_cause.category == "cuda-kernel"
