"""What is left to blame where a communicator broke and no cause is known: the link, a peer, or who kept others waiting."""

from __future__ import annotations

from triage import Engine, Source

FLUSHED = (
    "node-1:34610:36821 [4] transport/net_ib.cc:2244 NCCL WARN NET/IB: Got completion from peer 10.0.1.23<34696> "
    "with status=5 opcode=0 len=0 vendor err 249 (Recv) hca mlx5_1\n"
)
LOST = (
    "[rank4]:[E1229 16:47:25.333820755 ProcessGroupNCCL.cpp:541] [Rank 4] found async exception when checking for NCCL "
    "errors: NCCL error: remote process exited or there was a network error, NCCL version 2.22.3\n"
)
CLOSED = (
    "node-1:34610:36822 [4] NCCL INFO misc/socket.cc:58 -> 6\nnode-1:34610:36822 [4] misc/socket.cc:49 NCCL WARN "
    "socketProgress: Connection closed by remote peer node-2<43211>\n"
)
ENDED = (
    "[2024-12-29 16:47:31,120] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python3', '-u', 'train.py', "
    "'--local_rank=7'] exits with return code = -6\n"
)


def diagnosed(engine: Engine, *texts: str) -> tuple[str, str]:
    """Rule and category of the root cause of a log."""
    found = engine.diagnose(Source("train.log", data="".join(texts).encode())).root_cause
    assert found is not None
    return found.rule_id, found.category


def test_flushed_work_alone_speaks_of_the_link(engine: Engine) -> None:
    assert diagnosed(engine, FLUSHED, LOST) == ("ledger.link-broke", "network-fabric")


def test_flushed_work_beside_a_closed_socket_speaks_of_the_process_behind_it(engine: Engine) -> None:
    assert diagnosed(engine, FLUSHED, CLOSED, LOST) == ("ledger.peer-vanished", "rank-crash")


def test_a_nameless_abort_below_a_lost_peer_is_no_death_of_its_own(engine: Engine) -> None:
    assert diagnosed(engine, FLUSHED, LOST, ENDED)[0] == "ledger.link-broke"
    assert diagnosed(engine, ENDED)[0] == "ledger.killed"


def test_two_files_of_which_one_waited_and_the_other_lost_it(engine: Engine) -> None:
    waited = (
        "[E ProcessGroupNCCL.cpp:828] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4, "
        "OpType=ALLGATHER, Timeout(ms)=1800000) ran for 1800081 milliseconds before timing out.\n"
    )
    agent = (
        "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -6) local_rank: 0 (pid: {}) of binary: "
        "/usr/bin/python3\n"
    )
    lost = "  what():  NCCL error: remote process exited or there was a network error, NCCL version 2.14.3\n"
    files = [
        Source("node0.log", data=(lost + agent.format(95001)).encode()),
        Source("node1.log", data=(waited + agent.format(95313)).encode()),
    ]
    found = engine.diagnose(files).root_cause
    assert found is not None
    assert found.category == "straggler-or-hang"
