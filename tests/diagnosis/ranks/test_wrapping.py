"""What stands before every line (a task, a pod, a unit's pid) wraps the launcher and names no rank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from triage import Engine, Source

FIXTURES = Path(__file__).parents[3] / "fixtures"
WRAPPERS: dict[str, Callable[[str], str]] = {
    "srun": lambda line: f"0: {line}",
    "second node": lambda line: f"1: {line}",
    "skypilot": lambda line: f"(train, pid=4711) {line}",
    "ray": lambda line: f"(Worker pid=4711, ip=10.0.0.6) {line}",
    "pod": lambda line: f"[pod/trainer-7f9c/pytorch] {line}",
    "compose": lambda line: f"trainer-1  | {line}",
}
CASES = (
    "captured/label-out-of-range", "captured/hf-trainer-vocabulary", "captured/cublas-after-assert",
    "captured/ddp-forward-raises", "captured/torchrun-bus", "captured/torchrun-exit", "captured/sigkill-rank",
    "reported/hf-trainer-tmp-checkpoint-rename-race", "reported/pytorchstreamwriter-file-write-failed",
    "captured/oom-one-rank-cascade",
)  # fmt: skip


def check(engine: Engine, case: str, wrap: Callable[[str], str]) -> None:
    folder = FIXTURES / case
    plain, wrapped = [], []
    for name in yaml.safe_load((folder / "expected.yaml").read_text())["files"]:
        text = (folder / name).read_text(errors="replace")
        lines = text.removesuffix("\n").split("\n")
        plain.append(Source(name, data=text.encode()))
        printed = name.endswith((".err", ".out", ".log"))
        wrapped.append(Source(name, data="\n".join(map(wrap, lines) if printed else lines).encode()))
    one, other = engine.diagnose(plain).root_cause, engine.diagnose(wrapped).root_cause
    assert one is not None
    assert other is not None
    assert other.rule_id == one.rule_id
    assert other.origin.rank == one.origin.rank


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("case", CASES)
def test_a_wrapped_launcher_gives_the_same_cause_and_rank(engine: Engine, case: str, wrapper: str) -> None:
    check(engine, case, WRAPPERS[wrapper])


def test_the_pid_of_a_unit_is_its_launchers(engine: Engine) -> None:
    check(
        engine,
        "captured/hf-trainer-vocabulary",
        lambda line: f"Nov 21 07:12:44 gpu-node-01 torchrun[2319]: {line}",
    )


def test_the_task_of_a_single_process_is_its_rank(engine: Engine) -> None:
    log = "3: RuntimeError: CUDA error: an illegal memory access was encountered\n0: step 4 loss 2.1\n"
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.origin.rank == 3


def test_a_pid_that_two_ranks_share_is_no_rank_s(engine: Engine) -> None:
    log = (
        "(train pid=77) [rank0]:[W1121 07:12:44.446230113 reducer.cpp:1502] Warning: find_unused_parameters=True was "
        "specified in DDP constructor, but did not find any unused parameters in the forward pass.\n"
        "(train pid=77) [rank1]:[W1121 07:12:44.446230113 reducer.cpp:1502] Warning: find_unused_parameters=True was "
        "specified in DDP constructor, but did not find any unused parameters in the forward pass.\n"
        "(train pid=77) RuntimeError: CUDA error: an illegal memory access was encountered\n"
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.origin.rank is None
