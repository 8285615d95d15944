"""What ended one call to an engine's worker is got over where the engine generates on."""

from __future__ import annotations

import pytest

from triage import Engine, Source

WORKER = "(Worker_TP0 pid=9100) ERROR 11-04 10:22:11 [multiproc_executor.py:671] "
REFUSED = "".join(
    WORKER + line + "\n"
    for line in (
        "WorkerProc hit an exception.",
        "Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.12/site-packages/vllm/lora/worker_manager.py", line 100, in _load_adapter',
        "    raise ValueError(",
        "ValueError: LoRA rank 64 is greater than max_lora_rank 16.",
    )
)
ANSWER = '(APIServer pid=9000) INFO:     10.0.0.7:4{n}213 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
TOKENS = (
    "(APIServer pid=9000) INFO 11-04 10:2{n}:41 [loggers.py:127] Engine 000: Avg prompt throughput: 12.0 tokens/s, "
    "Avg generation throughput: 410.2 tokens/s, Running: 3 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.1%\n"
)
DEAD = (
    "(EngineCore_DP0 pid=9020) ERROR 11-04 10:29:11 [core.py:710] EngineCore encountered a fatal error.\n"
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\n"
)


@pytest.mark.parametrize(
    ("later", "verdict"),
    [
        (ANSWER.format(n=5) + TOKENS.format(n=5) + ANSWER.format(n=6) + TOKENS.format(n=6), "healthy"),
        (ANSWER.format(n=5) + TOKENS.format(n=5) + DEAD, "failed"),
        ("", "failed"),
    ],
)
def test_a_refused_call(engine: Engine, later: str, verdict: str) -> None:
    before = ANSWER.format(n=1) + TOKENS.format(n=1)
    assert engine.diagnose(Source("serve.log", data=(before + REFUSED + later).encode())).verdict == verdict


def test_no_device_is_got_over(engine: Engine) -> None:
    fault = REFUSED.replace(
        "ValueError: LoRA rank 64 is greater than max_lora_rank 16.",
        "torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
    )
    later = ANSWER.format(n=5) + TOKENS.format(n=5)
    assert engine.diagnose(Source("serve.log", data=(fault + later).encode())).verdict == "failed"
