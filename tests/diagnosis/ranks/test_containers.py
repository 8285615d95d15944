"""Containers and pods of which only the number tells who they are."""

from __future__ import annotations

import pytest

from triage import Engine

RAISED = (
    "Traceback (most recent call last):",
    '  File "/app/run.py", line 31, in <module>',
    "    main()",
    '  File "/app/run.py", line 19, in main',
    "    scale = weights[name]",
    "KeyError: 'decoder.12.bias'",
)


def rank(
    engine: Engine, leads: list[str], *, guilty: int, above: tuple[str, ...] = (), times: int = 1
) -> int | None:
    """The rank that is blamed where the writer at ``guilty`` raises an error, and each says each line ``times`` times."""
    lines = [
        *above,
        *(f"{lead}step {k} loss 2.{k}" for k in range(4) for lead in leads for _ in range(times)),
    ]
    lines += [leads[guilty] + line for line in RAISED]
    found = engine.diagnose(("\n".join(lines) + "\n").encode())
    assert found.root_cause is not None and found.root_cause.category == "user-code"
    return found.root_cause.origin.rank


def numbered(lead: str, first: int = 0, count: int = 4) -> list[str]:
    return [lead.format(k) for k in range(first, first + count)]


@pytest.mark.parametrize(
    "lead", ["rank-{}  | ", "train{}-1  | ", "[pod/bert-worker-{}/pytorch] ", "[pod/llm-trainer-{}/main] "]
)
def test_containers_that_count_from_zero_are_ranks(engine: Engine, lead: str) -> None:
    assert rank(engine, numbered(lead), guilty=2) == 2


@pytest.mark.parametrize("lead", ["worker-{}  | ", "[pod/bert-worker-{}/pytorch] "])
def test_containers_that_count_from_one_are_none(engine: Engine, lead: str) -> None:
    assert rank(engine, numbered(lead, first=1), guilty=2) is None


@pytest.mark.parametrize("lead", ["api-{}  | ", "worker-{}  | ", "[pod/trainer-ui-{}/web] "])
def test_servers_and_tasks_beside_each_other_are_none(engine: Engine, lead: str) -> None:
    assert rank(engine, numbered(lead), guilty=2) is None


@pytest.mark.parametrize("lead", ["worker-{}  | ", "[pod/llm-{}/main] "])
def test_where_several_are_in_trouble_they_work_together(engine: Engine, lead: str) -> None:
    lost = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.3]:4310"
    lines = [lead.format(r) + f"step {k}" for k in range(4) for r in range(4)]
    lines += [lead.format(2) + line for line in RAISED]
    lines += [lead.format(r) + line for r in (0, 1, 3) for line in (*RAISED[:3], lost)]
    root = engine.diagnose(("\n".join(lines) + "\n").encode()).root_cause
    assert root is not None and (root.category, root.origin.rank) == ("user-code", 2)


def test_an_agent_in_each_pod_is_one_of_several_nodes(engine: Engine) -> None:
    lines = [f"[pod/ft-{p}/main] loading" for p in range(2)] + ["[pod/ft-1/main] " + line for line in RAISED]
    lines.append(
        "[pod/ft-1/main] E1122 03:12:01.500000 101 torch/distributed/elastic/multiprocessing/api.py:882] failed "
        "(exitcode: 1) local_rank: 2 (pid: 213) of binary: /usr/bin/python3"
    )
    root = engine.diagnose(("\n".join(lines) + "\n").encode()).root_cause
    assert root is not None and root.origin.rank is None


@pytest.mark.parametrize("lead", ["node-{}  | ", "[pod/gpu-node-{}/main] "])
def test_nodes_are_none(engine: Engine, lead: str) -> None:
    assert rank(engine, numbered(lead), guilty=2) is None


def test_a_master_comes_before_the_workers(engine: Engine) -> None:
    leads = ["[pod/bert-master-0/pytorch] ", *numbered("[pod/bert-worker-{}/pytorch] ", count=3)]
    assert rank(engine, leads, guilty=2) == 2


def test_services_beside_them_are_no_processes(engine: Engine) -> None:
    above = ("redis-1  | 1:M 22 Nov 2026 03:10:00.002 * Ready to accept connections tcp",)
    assert rank(engine, numbered("trainer-{}  | "), guilty=1, above=above) == 1
    others = ("planner-1  | 4 tasks planned",)
    assert rank(engine, numbered("trainer-{}  | "), guilty=1, above=others) is None


def test_what_kubernetes_draws_for_each_try_is_no_part_of_a_name(engine: Engine) -> None:
    leads = [f"[pod/train-{k}-{drawn}/main] " for k, drawn in enumerate(["x7k2p", "b8w4q", "mm2zr", "9dk5v"])]
    assert rank(engine, leads, guilty=2) == 2


def test_a_pod_of_several_processes_is_no_rank(engine: Engine) -> None:
    leads = numbered("[pod/ft-train-{}/main] ", count=2)
    assert rank(engine, leads, guilty=1) == 1
    assert rank(engine, leads, guilty=1, times=4) is None


def test_of_all_that_ended_it_is_the_one_that_had_lost_nobody(engine: Engine) -> None:
    lost = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.3]:4310"
    lines = [f"worker-{r}  | step {k} temp 55" for k in range(4) for r in range(4)]
    lines.append("worker-3  | temperature 91.5 above limit, stepping out")
    for r in (2, 0, 1):
        lines += [f"worker-{r}  | {line}" for line in (*RAISED[:3], lost)]
    lines += ["worker-2 exited with code 1", "worker-3 exited with code 75"]
    lines += ["worker-0 exited with code 1", "worker-1 exited with code 1"]
    root = engine.diagnose(("\n".join(lines) + "\n").encode()).root_cause
    assert root is not None and root.origin.rank == 3


def test_a_writer_is_known_to_what_no_rule_knows(engine: Engine) -> None:
    said = '{{"severity": "{}", "process_index": {}, "ts": "2026-11-22T03:1{}:00Z", "message": "{}"}}'
    lines = [said.format("INFO", r, k, f"step {k}00") for k in range(5) for r in range(4)]
    lines.append(said.format("ERROR", 2, 5, "FloatingPointError: nan encountered in grads['decoder']"))
    root = engine.diagnose(("\n".join(lines) + "\n").encode()).root_cause
    assert root is not None and root.origin.rank == 2
