"""What the agents of several nodes tell of their processes, each in a log of its own."""

from __future__ import annotations

import pytest

from triage import Engine, Source
from triage.model import Origin

API = "site-packages/torch/distributed/elastic/multiprocessing/api.py"
RAISED = (
    "{0}Traceback (most recent call last):\n"
    '{0}  File "/app/train.py", line 203, in <module>\n{0}    main()\n'
    '{0}  File "/app/train.py", line 141, in main\n{0}    check(batch)\n'
    "{0}AssertionError: labels out of range for shard 17\n"
)


def agent(host: str, first: int, held: int, failed: dict[int, int], pid: int = 71, at: int = 41) -> str:
    """What the agent of a node prints whose processes of these ranks ended with these codes."""
    stamp = f"1123 10:00:{at:02}.123000 {pid - 70} {API}"
    told = "".join(
        f"W{stamp}:900] Sending process {pid + n} closing signal SIGTERM\n"
        for n in range(held)
        if first + n not in failed
    )
    rows = [
        f"  time      : 2026-11-23_10:00:{at:02}\n  host      : {host}\n  rank      : {rank} (local_rank: {rank - first})\n"
        f"  exitcode  : {code} (pid: {pid + rank - first})\n  error_file: <N/A>\n"
        "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n"
        for rank, code in failed.items()
    ]
    rank, code = next(iter(failed.items()))
    own = f"failed (exitcode: {code}) local_rank: {rank - first} (pid: {pid + rank - first}) of binary: /usr/bin/python3"
    others = "".join(f"[{n}]:\n{row}" for n, row in enumerate(rows[1:], 1)) or "  <NO_OTHER_FAILURES>\n"
    ruler = "-" * 60
    return (
        f"{told}E{stamp}:874] {own}\nTraceback (most recent call last):\n"
        '  File "/usr/local/bin/torchrun", line 8, in <module>\n    sys.exit(main())\n'
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        f"{'=' * 60}\ntrain.py FAILED\n{ruler}\nFailures:\n{others}{ruler}\n"
        f"Root Cause (first observed failure):\n[0]:\n{rows[0]}{'=' * 60}\n"
    )


def lost(rank: int) -> str:
    """What the watchdog of a rank prints, in torch 2.1, when a peer has gone."""
    return (
        f"[E ProcessGroupNCCL.cpp:915] [Rank {rank}] NCCL watchdog thread terminated with exception: NCCL error: remote "
        "process exited or there was a network error, NCCL version 2.18.1\n"
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n"
    )


def waits(rank: int) -> str:
    """What the watchdog of a rank prints when it gives up."""
    return (
        f"[rank{rank}]:[E1123 10:10:45.469789736 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=96, OpType=ALLREDUCE, NumelIn=2048, NumelOut=2048, Timeout(ms)=600000) ran "
        "for 600015 milliseconds before timing out.\n"
    )


def blamed(engine: Engine, texts: dict[str, str]) -> Origin:
    """Whom the files blame."""
    found = engine.diagnose([Source(n, path=None, data=t.encode()) for n, t in texts.items()])
    assert found.root_cause is not None
    return found.root_cause.origin


def test_the_table_of_its_node_places_a_tag_that_counts_there(engine: Engine) -> None:
    texts = {
        "job-a.log": "".join(map(lost, range(4))) + agent("cn305a", 0, 4, {1: -6}, at=44),
        "job-b.log": RAISED.format("[default2]:") + agent("cn975b", 4, 4, {6: 1}),
    }
    origin = blamed(engine, texts)
    assert (origin.rank, origin.local_rank, origin.host) == (6, 2, "cn975b")


@pytest.mark.parametrize("swapped", [False, True])
def test_an_exception_without_a_name_is_of_its_own_nodes_first_failure(engine: Engine, swapped: bool) -> None:
    first = "".join(map(lost, range(4))) + agent("cn305a", 0, 4, {1: -6, 3: -6}, at=44)
    second = RAISED.format("") + agent("cn975b", 4, 4, {6: 1})
    names = ("b.log", "a.log") if swapped else ("a.log", "b.log")
    assert blamed(engine, dict(zip(names, (first, second), strict=True))).rank == 6


def test_processes_that_were_told_to_end_are_there_though_no_line_counts_them(engine: Engine) -> None:
    texts = {
        "a.log": "".join(map(waits, (0, 1))) + agent("cn305a", 0, 2, {0: -6, 1: -6}, at=46),
        "b.log": waits(2) + agent("cn975b", 2, 2, {2: -6}, at=46),
    }
    assert blamed(engine, texts).rank == 3


def test_the_pids_of_another_node_are_not_those_of_who_died(engine: Engine) -> None:
    texts = {
        "a.log": "".join(map(waits, (0, 1, 2, 3))) + agent("node-0", 0, 4, {0: -6, 1: -6}, at=46),
        "b.log": agent("node-1", 4, 4, {6: -11}),
    }
    found = engine.diagnose([Source(n, path=None, data=t.encode()) for n, t in texts.items()])
    assert found.root_cause is not None
    assert (found.root_cause.category, found.root_cause.origin.rank) == ("rank-crash", 6)


def test_the_rank_that_prints_for_all_is_not_blamed_where_all_wait(engine: Engine) -> None:
    banner = (
        "W1123 10:00:00.100000 {} site-packages/torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment "
        "variable for each process to be 1 in default, to avoid your system being overloaded\n"
    )
    work = "[default0]:loading tokenizer from /data/tok\n" + "".join(
        f"[default0]:step {n}/1000 loss 7.9{n}\n" for n in range(1, 7)
    )
    texts = {
        "a.log": banner.format(1) + work + waits(0) + waits(1) + agent("node-0", 0, 2, {1: -6}, at=46),
        "b.log": banner.format(1) + waits(2) + waits(3) + agent("node-1", 2, 2, {2: -6}, at=46),
        "c.log": banner.format(1) + waits(4) + waits(5) + agent("node-2", 4, 2, {4: -6}, at=46),
    }
    assert blamed(engine, texts).rank is None


def test_one_log_of_several_nodes_places_no_tag(engine: Engine) -> None:
    text = RAISED.format("[default2]:") + agent("cn975b", 4, 4, {5: -6}) + "".join(map(lost, range(4)))
    assert blamed(engine, {"all.log": text}).rank != 6


def test_the_kernel_of_a_node_that_only_its_agent_names(engine: Engine) -> None:
    kill = (
        "[83251.402000] python3 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0\n"
        "[83251.404000] Out of memory: Killed process 72 (python3) total-vm:183211044kB, anon-rss:98213444kB, "
        "file-rss:71232kB, shmem-rss:1024kB, UID:1003 pgtables:201232kB oom_score_adj:0\n"
    )
    texts = {
        "a.log": "".join(map(lost, range(2))) + agent("cn305a", 0, 2, {1: -6}, at=44),
        "b.log": agent("cn975b", 2, 2, {3: -9}),
        "dmesg_cn975b.txt": kill,
    }
    origin = blamed(engine, texts)
    assert (origin.rank, origin.host) == (3, "cn975b")
