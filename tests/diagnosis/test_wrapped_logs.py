"""One log as collectors and launchers hand it on: what is found in it does not depend on what stands before its lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from triage import Engine, Source

TRACE = (
    "Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 998, in event_loop_overlap\n'
    "    batch_result = self.run_batch(batch)\n"
)
SERVER = (
    "".join(f"[2025-10-14 03:20:0{r} TP{r}] Load weight end. avail mem=52.1{r} GB\n" for r in range(8))
    + "[2025-10-14 03:21:44 TP5] " + TRACE
    + "RuntimeError: CUDA error: an illegal memory access was encountered\n\n"
    "[2025-10-14 03:21:46] Received sigquit from a child process. It usually means the child failed.\n"
)  # fmt: skip
ACTORS = (
    "".join(
        f"(TrainActor pid=70{r}) [2026-03-05 02:04:51] memory_utils.py:41 - [Rank {r}] Memory-Usage after update\n"
        for r in range(4)
    )
    + "(TrainActor pid=703) Traceback (most recent call last):\n"
    '(TrainActor pid=703)   File "/root/loss.py", line 41, in calculate\n'
    "(TrainActor pid=703)     loss = logits[target]\n"
    "(TrainActor pid=703) IndexError: index 9 is out of bounds for dimension 0 with size 4\n"
    'the driver is gone\nINFO:     10.0.0.1:5012 - "POST /generate HTTP/1.1" 200 OK\n'
)
TRITON = (
    "I0226 06:49:34.521309 121 model_lifecycle.cc:849] \"successfully loaded 'postprocessing'\"\n"
    "[TensorRT-LLM][INFO] Rank 0 is using GPU 0\n"
    "E0226 06:49:40.100512 121 model_lifecycle.cc:654] \"failed to load 'tensorrt_llm' version 1: Internal: Assertion failed: "
    'MPI worldSize is expected to be equal to tp*pp*cp when participantIds are not specified"\n'
    'I0226 06:49:40.102233 121 server.cc:307] "Waiting for in-flight requests to complete."\n'
    "error: creating server: Internal - failed to load all models\n"
)
WRAPPERS: dict[str, Callable[[int, str], str]] = {
    "bare": lambda n, line: line,
    "docker": lambda n, line: json.dumps(
        {"log": line + "\n", "stream": "stderr", "time": f"2026-11-20T18:00:{n:02d}Z"}
    ),
    "agent": lambda n, line: json.dumps(
        {
            "timestamp": f"2026-11-20T18:00:{n:02d}Z",
            "level": "info",
            "message": line,
            "kubernetes": {"pod_name": "llm-0", "container_name": "server"},
        }
    ),
    "google": lambda n, line: json.dumps(
        {"textPayload": line, "timestamp": f"2026-11-20T18:00:{n:02d}Z", "severity": "ERROR"}
    ),
    "kubectl": lambda n, line: f"2026-11-20T18:00:{n:02d}.123456789Z {line}",
    "journal": lambda n, line: f"Nov 20 18:00:{n:02d} gpu-12 docker[8812]: {line}",
    "pod and container": lambda n, line: f"llm-server-7d9c engine {line}",
    "compose": lambda n, line: f"engine-1  | {line}",
    "srun": lambda n, line: f"0: {line}",
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    ("log", "category", "rank"),
    [(SERVER, "cuda-kernel", 5), (ACTORS, "user-code", 3), (TRITON, "config", None)],
)
def test_the_same_in_whatever_wrapping(
    engine: Engine, log: str, category: str, rank: int | None, wrapper: str
) -> None:
    lines = [WRAPPERS[wrapper](n, line) for n, line in enumerate(log.splitlines())]
    found = engine.diagnose(Source("job.log", data=("\n".join(lines) + "\n").encode()))
    root = found.root_cause
    assert root is not None, found.verdict
    assert (root.category, root.origin.rank) == (category, rank)


def test_a_collector_s_severity_is_nobody_s_word(engine: Engine) -> None:
    lines = ["loading", "step 1 loss 4.1", "step 2 loss 4.0", "nothing went wrong", "Training finished"] * 3
    wrapped = "\n".join(WRAPPERS["google"](n, line) for n, line in enumerate(lines))
    assert engine.diagnose(Source("job.log", data=wrapped.encode())).verdict == "healthy"


def test_a_refused_request_that_ends_a_rank(engine: Engine) -> None:
    words = "ValueError: The decoder prompt (length 8211) is longer than the maximum model length of 8192. Make sure."
    trace = 'Traceback (most recent call last):\n  File "/x/grpo.py", line 3, in generate\n    out = llm.generate(p)\n'
    tagged = "".join(f"[rank2]: {line}\n" for line in (trace + words).splitlines())
    root = engine.diagnose(Source("job.log", data=tagged.encode())).root_cause
    assert root is not None
    assert root.category in {"config", "user-code"}
    assert root.origin.rank == 2


FIXTURES = Path(__file__).parents[2] / "fixtures" / "captured"


@pytest.mark.parametrize("wrapper", ["docker", "pod and container"])
@pytest.mark.parametrize(
    "case", ["slots-with-angle-names", "capped-prefix-host-and-gpu", "one-file-with-nodes-and-local-ranks"]
)
def test_names_of_a_launcher_of_its_own_behind_a_collector_s(engine: Engine, case: str, wrapper: str) -> None:
    (name,) = yaml.safe_load((FIXTURES / case / "expected.yaml").read_text())["files"]
    text = (FIXTURES / case / name).read_text(errors="replace")
    lines = [WRAPPERS[wrapper](n % 60, line) for n, line in enumerate(text.removesuffix("\n").split("\n"))]
    bare = engine.diagnose(Source(name, data=text.encode())).root_cause
    root = engine.diagnose(Source(name, data=("\n".join(lines) + "\n").encode())).root_cause
    assert bare is not None
    assert root is not None
    assert (root.rule_id, root.origin.rank) == (bare.rule_id, bare.origin.rank)
