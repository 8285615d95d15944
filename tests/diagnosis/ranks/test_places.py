"""Places of processes: marks before a logger's name, hosts whose numbers nothing orders, who serves the store."""

from __future__ import annotations

import pytest

from triage import Engine
from triage.model import Hypothesis

STACK = (
    "Traceback (most recent call last):\n"
    '  File "/srv/app/fit.py", line 40, in read\n'
    "    return float(row)\n"
    "ValueError: could not convert string to float: 'n/a'\n"
)
CLOSED = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.4]:1940."


def cause(engine: Engine, log: str) -> Hypothesis:
    root = engine.diagnose(log.encode()).root_cause
    assert root is not None
    return root


@pytest.mark.parametrize(
    ("lead", "rank"),
    [
        ("[{r}] ", 2),
        ("<{r}> ", 2),
        ("rank{r} ", 2),
        ("node{n}/gpu{l} ", 2),
        ("", None),
    ],
)
def test_a_number_before_the_name_of_the_logger_is_the_process(
    engine: Engine, lead: str, rank: int | None
) -> None:
    def line(r: int, level: str, words: str) -> str:
        head = lead.format(r=r, n=r // 2, l=r % 2)
        return f"2026-11-22 18:21:39.{r}01 | {level:<8} | {head}app.loop:run:43 - {words}\n"

    log = "".join(line(r, "INFO", f"batch {k} mean 0.5") for k in range(4) for r in (1, 0, 3, 2))
    log += line(2, "ERROR", "an error has been caught") + STACK
    log += line(1, "ERROR", "an error has been caught") + STACK.replace(
        "ValueError: could not convert string to float: 'n/a'", CLOSED
    )
    root = cause(engine, log)
    assert root.title.startswith("ValueError")
    assert root.origin.rank == rank


@pytest.mark.parametrize("name", ["slot", "local_id", "gpu", "device"])
def test_a_structured_logger_binds_a_host_and_a_number_on_it(engine: Engine, name: str) -> None:
    def line(r: int, words: str) -> str:
        return f'level=info event="{words}" host={"ant" if r < 2 else "bee"} {name}={r % 2}'

    log = "".join(f"{line(r, 'group ready')} world=4 rank={r}\n" for r in (1, 0, 2, 3))
    log += "".join(f"{line(r, 'progress')} row={k}\n" for k in range(4) for r in (1, 0, 3, 2))
    log += f"{line(2, 'cache miss, asking the origin for rows')}\n"
    waited = "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 9000ms for recv operation to complete"
    log += STACK.replace("ValueError: could not convert string to float: 'n/a'", waited) * 3
    assert cause(engine, log).origin.rank == 2


def test_the_host_that_nothing_places_begins_where_the_others_leave_room(engine: Engine) -> None:
    enforce = (
        "[cpu-{h}] terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
        "[cpu-{h}]   what():  [enforce fail at gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 1792 vs 8. "
        "Received data size doesn't match expected size. Is there a distributed collective mismatch in your code?\n"
    )
    log = "".join(enforce.format(h=h) for h in ("a:0", "a:1", "b:1"))
    log += f"[cpu-b:0] [rank2]: Traceback (most recent call last):\n[cpu-b:0] [rank2]: {CLOSED}\n"
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("collective-desync", 2)


@pytest.mark.parametrize(("function", "rank"), [("_create_c10d_store", 0), ("_create_tcp_store", None)])
def test_the_store_that_ranks_set_up_themselves_is_served_by_rank_zero(
    engine: Engine, function: str, rank: int | None
) -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/srv/app/fit.py", line 4, in <module>\n'
        "    start()\n"
        f'  File "/opt/lib/python3.12/site-packages/torch/distributed/rendezvous.py", line 198, in {function}\n'
        "    return TCPStore(\n"
        "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. "
        "port: 57062, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use\n"
    )
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("port-conflict", rank)


def test_a_container_beside_a_pod_s_name_changes_nothing(engine: Engine) -> None:
    def lines(r: int, text: str) -> str:
        return "".join(f"trainer-{r} main {line}\n" for line in text.splitlines())

    log = "".join(lines(r, f"turn {k} sum {k * 3}") for k in range(4) for r in (1, 0, 3, 2))
    log += lines(2, STACK) + "".join(
        lines(r, STACK.replace("ValueError: could not convert string to float: 'n/a'", CLOSED))
        for r in (0, 3, 1)
    )
    assert cause(engine, log).origin.rank == 2


def test_a_worker_that_died_of_a_fault_of_the_gpu_is_named_by_its_engine(engine: Engine) -> None:
    log = (
        "Memory access fault by GPU node-5 (Agent handle: 0x3f0c1a70) on address 0x7e21c8a00000. Reason: Unknown.\n"
        "(EngineCore pid=411) ERROR 07-10 09:16:47 [multiproc_executor.py:261] Worker proc VllmWorker-3 died unexpectedly, "
        "shutting down executor.\n"
    )
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("cuda-kernel", 3)


def test_levels_may_be_aligned_and_own_words_for_a_loss_are_no_cause(engine: Engine) -> None:
    def line(r: int, level: str, words: str) -> str:
        return f"19:38:4{r}.455 {level:<7} [{r}/4] {words}\n"

    lost = STACK.replace("ValueError: could not convert string to float: 'n/a'", CLOSED)
    lost += (
        "\nThe above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/app/fit.py", line 22, in main\n'
        '    raise Upstream("exchange with neighbours failed") from e\n'
        "Upstream: exchange with neighbours failed\n"
    )
    log = "".join(line(r, "INFO", f"step {k} value {k * 3}") for k in range(4) for r in (1, 0, 3, 2))
    others = "".join(line(r, "CRITICAL", "giving up") + lost for r in (0, 3, 1))
    root = cause(engine, log + line(2, "CRITICAL", "giving up") + STACK + others)
    assert (root.title.partition(" ")[0], root.origin.rank) == ("ValueError", 2)
    assert cause(engine, log + others).category == "rank-crash"


def test_a_number_of_two_that_tell_a_writer_together_is_no_rank(engine: Engine) -> None:
    log = "".join(f"<{r // 3}.{r % 3}> turn {k} sum {k * 3}\n" for k in range(4) for r in (1, 0, 4, 5, 3, 2))
    log += "<0.2> flush requested, leaving the schedule\n"
    lost = STACK.replace("ValueError: could not convert string to float: 'n/a'", CLOSED)
    log += "".join(f"[rank{r}]: {line}\n" for r in (5, 1, 4, 0, 3) for line in lost.splitlines())
    root = cause(engine, log)
    assert (root.category, root.origin.rank) == ("collective-desync", 2)
