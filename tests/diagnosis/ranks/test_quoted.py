"""What torchrun's table quotes of a rank was said by that rank."""

from __future__ import annotations

from triage import Engine, Source

RULER, LINE = "=" * 60 + "\n", "-" * 60 + "\n"
ROW = (
    "[{0}]:\n  time      : 2026-05-17_14:29:{1}\n  host      : g9\n  rank      : {0} (local_rank: {0})\n"
    "  exitcode  : {2} (pid: {3})\n  error_file: {4}\n  traceback : {5}\n"
)
QUOTED = (
    "Traceback (most recent call last):\n"
    '    File "/srv/train.py", line 416, in forward\n      return F.linear(x, weight, bias)\n'
    "  RuntimeError: CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling `cublasGemmEx( handle, opa, opb, m, n, k)`\n  "
)


def test_an_error_file_in_the_table_is_of_the_rank_of_its_row(engine: Engine) -> None:
    others = "".join(
        ROW.format(r, 40, -15, 800 + r, "<N/A>", f"Signal 15 (SIGTERM) received by PID {800 + r}")
        for r in range(3)
    )
    log = (
        "[rank0]:[titan] 2026-05-17 14:29:15,131 - root - INFO - step: 5150  loss: 3.14585  tps: 1,047\n"
        "E0517 14:29:40.093000 719 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: -6) "
        "local_rank: 3 (pid: 803) of binary: /usr/bin/python3\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        + RULER + "train FAILED\n" + LINE + "Failures:\n" + others + LINE
        + "Root Cause (first observed failure):\n"
        + ROW.format(3, 30, -6, 803, "/tmp/torchelastic/attempt_0/3/error.json", QUOTED) + RULER
    )  # fmt: skip
    root = engine.diagnose(Source("job.log", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("cuda-kernel", 3)
    assert "CUBLAS_STATUS_INTERNAL_ERROR" in root.evidence[0].text
