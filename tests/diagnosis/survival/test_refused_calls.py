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


HANDSHAKE = "".join(
    "(Worker_TP1 pid=9101) ERROR 11-04 10:22:11 [base_worker.py:900] " + line + "\n"
    for line in (
        "NIXL transfer failure: handshake_failed | Context: {'failure_type': 'handshake_failed', 'request_id': 'cmpl-1'}",
        "Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.12/site-packages/vllm/distributed/kv_transfer/kv_connector/v1/nixl/base_worker.py", line 1231, in x',
        "    raise RuntimeError(",
        "RuntimeError: Remote NIXL agent engine ID mismatch. Expected a_dp0,received b_dp0.",
    )
)
STORE = "".join(
    "(Worker_TP1 pid=9101) " + line + "\n"
    for line in (
        "[2026-11-04 10:22:11,036] LMCache ERROR: Cannot store keys due to exception (transfer.py:800:lmcache.v1.transfer)",
        "Traceback (most recent call last):",
        '  File "/opt/venv/lib/python3.12/site-packages/lmcache/v1/memory_management.py", line 1457, in allocate',
        "    raise RuntimeError(",
        "RuntimeError: Failed to allocate memory block of size 33554432 because no memory is available",
    )
)
REPLICA_DEAD = (
    "(EngineCore_DP1 pid=9021) ERROR 11-04 10:22:12 [core.py:710] EngineCore encountered a fatal error.\n"
    "(APIServer pid=9000) ERROR 11-04 10:22:12 [core_client.py:605] Engine core proc EngineCore_DP1 died unexpectedly, "
    "shutting down client.\n"
)


@pytest.mark.parametrize("lost", [HANDSHAKE, STORE])
@pytest.mark.parametrize(
    ("later", "verdict"),
    [
        (ANSWER.format(n=5) + TOKENS.format(n=5) + ANSWER.format(n=6) + TOKENS.format(n=6), "healthy"),
        (REPLICA_DEAD + ANSWER.format(n=5) + TOKENS.format(n=5), "failed"),  # another replica goes on
        (ANSWER.format(n=5) + TOKENS.format(n=5) + DEAD, "failed"),
        (ANSWER.format(n=5), "failed"),  # who only answers may refuse
    ],
)
def test_what_a_connector_lost_for_a_request(engine: Engine, lost: str, later: str, verdict: str) -> None:
    before = ANSWER.format(n=1) + TOKENS.format(n=1)
    assert engine.diagnose(Source("serve.log", data=(before + lost + later).encode())).verdict == verdict
