"""Whose a device-side assertion is: CUDA prints it without a name, wherever others are just writing."""

from __future__ import annotations

import pytest

from triage import Engine, Source

ASSERTION = (
    "/pytorch/aten/src/ATen/native/cuda/IndexKernelUtils.cu:16: vectorized_gather_kernel: block: [12,0,0], thread: [31,0,0] "
    "Assertion `ind >=0 && ind < ind_dim_size` failed.\n"
)
TRIGGERED = "CUDA error: device-side assert triggered\n"
FRAMES = 'Traceback (most recent call last):\n  File "/opt/site-packages/{0}", line 447, in {1}\n    output = self.forward(batch)\n'
LOST = (
    "[rank{0}]:[E1002 11:21:31.130401736 ProcessGroupNCCL.cpp:1794] [PG ID 2 PG GUID 3 Rank {0}] Process group watchdog "
    "thread terminated with exception: NCCL error: remote process exited or there was a network error, NCCL version 2.27.3\n"
)
NAMED = "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n"


def logged(lead: str, text: str) -> str:
    return "".join(f"{lead}{line}\n" for line in text.splitlines())


def rank_of(engine: Engine, log: str) -> tuple[str, int | None]:
    root = engine.diagnose(Source("server.log", data=log.encode())).root_cause
    assert root is not None
    return root.rule_id, root.origin.rank


def test_below_the_error_of_another_rank_s_watchdog(engine: Engine) -> None:
    lead = "(Worker_TP2 pid=902) ERROR 10-02 11:21:31 [multiproc_executor.py:671] "
    said = "WorkerProc hit an exception.\n" + FRAMES.format("vllm/v1/worker/gpu_worker.py", "execute_model")
    log = "".join(LOST.format(rank) + NAMED for rank in (0, 1, 3)) + ASSERTION
    log += logged(lead, f"{said}torch.AcceleratorError: {TRIGGERED}")
    assert rank_of(engine, log) == ("torch.device-assertion", 2)


def test_below_the_traceback_of_another_scheduler(engine: Engine) -> None:
    hit = "[2026-10-02 11:21:31 TP{0}] Scheduler hit an exception: " + FRAMES.format(
        "sglang/srt/managers/scheduler.py", "event_loop_overlap"
    )
    gone = "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:41222\n"
    log = "".join(f"{hit.format(rank)}{gone}\n" for rank in (0, 1, 3)) + ASSERTION
    log += f"{hit.format(2)}torch.AcceleratorError: {TRIGGERED}\n"
    assert rank_of(engine, log) == ("torch.device-assertion", 2)


@pytest.mark.parametrize(("also", "rank"), [((), 2), ((1,), None)])
def test_the_one_that_logged_what_came_of_it(engine: Engine, also: tuple[int, ...], rank: int | None) -> None:
    loads = "".join(
        f"[10/02/2026-11:20:03] [TRT-LLM] [RANK {r}] [I] Starting to load model\n" for r in range(4)
    )
    said = (
        "[10/02/2026-11:21:31] [TRT-LLM] [RANK {0}] [E] Encountered an error in forward function: "
        + TRIGGERED
    )
    log = loads + ASSERTION + "".join(said.format(r) for r in (2, *also))
    assert rank_of(engine, log) == ("torch.device-assertion", rank)


def test_of_an_actor_whose_rank_is_the_one_that_all_others_lost(engine: Engine) -> None:
    losses = "".join(
        f"(WorkerDict pid={900 + r}) {line}\n"
        for r in (0, 1, 3)
        for line in (LOST.format(r) + NAMED).splitlines()
    )
    raised = (
        "ray.exceptions.RayTaskError(AcceleratorError): ray::WorkerDict.actor_rollout_update_actor() (pid=902, ip=10.0.0.4, "
        "actor_id=d9cc, repr=<verl.single_controller.ray.base.WorkerDict object at 0x7f>)\n"
        '  File "/opt/site-packages/verl/workers/actor/dp_actor.py", line 520, in update_policy\n    loss.backward()\n'
        f"torch.AcceleratorError: {TRIGGERED}"
    )
    log = f"(WorkerDict pid=902) {ASSERTION}{losses}Traceback (most recent call last):\n{raised}"
    assert rank_of(engine, log) == ("torch.device-assertion", 2)
