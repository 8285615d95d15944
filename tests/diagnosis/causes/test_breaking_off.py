"""A log that breaks off in the middle of an exception does not tell which one it was."""

from __future__ import annotations

import pytest

from triage import Engine, Source

HEAD = """step 4 loss 2.1
[rank2]: Traceback (most recent call last):
[rank2]:   File "/workspace/train.py", line 355, in <module>
[rank2]:     main()
[rank2]:   File "/workspace/train.py", line 137, in main
[rank2]:     keep = [torch.empty(2 << 30, dtype=torch.uint8, device=dev) for _ in range(40)]
"""


@pytest.mark.parametrize("rest", ["", "[rank2]: torch.OutOfMem", "[rank2]:             ^^^^^^^^\n"])
def test_an_exception_without_a_name_is_no_confident_cause(engine: Engine, rest: str) -> None:
    root = engine.diagnose(Source("job.err", data=(HEAD + rest).encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 2)
    assert root.confidence < 0.5


@pytest.mark.parametrize("rest", ["[rank2]: ZeroDivisionError", "[rank2]: Odd: no end"])
def test_a_log_without_a_last_line_feed_is_not_broken_off(engine: Engine, rest: str) -> None:
    root = engine.diagnose(Source("job.err", data=(HEAD + rest).encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 2)


def test_a_timeout_line_that_breaks_off_contradicts_nobody(engine: Engine) -> None:
    line = (
        "[rank{0}]:[E1121 07:24:17.183912728 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=27, OpType=ALLREDUCE, NumelIn=263169, NumelOut=263169, Timeout(ms)=15000) ran for "
        "15014 milliseconds before timing out.\n"
    )
    log = "".join(line.format(rank) for rank in (0, 1, 3)) + line.format(2).partition("NumelOut")[0]
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category != "collective-desync"
    assert root.origin.rank is None


def test_a_rank_that_began_a_traceback_raised_and_left_the_others_waiting(engine: Engine) -> None:
    wait = (
        "[rank{0}]:[E1121 07:24:17.183912728 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=27, OpType=ALLREDUCE, NumelIn=263169, NumelOut=263169, Timeout(ms)=15000) ran for "
        "15014 milliseconds before timing out.\n"
    )
    log = HEAD.splitlines(keepends=True)[1] + "".join(wait.format(rank) for rank in (0, 1, 3))
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", 2)
    assert "caught" not in root.summary
    assert root.evidence[0].line == 1


def test_a_local_rank_of_the_second_node_is_no_rank(engine: Engine) -> None:
    first = "[rank0]:[W1121 07:22:01.55 reducer.cpp:1502] Warning: find_unused_parameters=True was specified in DDP "
    second = (
        "E1121 07:22:01.559000 17168 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: -9) "
        "local_rank: 0 (pid: 17300) of binary: /opt/venv/bin/python3\n"
    )
    root = engine.diagnose(
        [
            Source(
                "a.err",
                data=(
                    first + "constructor, but did not find any unused parameters in the forward pass.\n"
                ).encode(),
                host="gpu-01",
            ),
            Source("b.err", data=second.encode(), host="gpu-02"),
        ]
    ).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("rank-crash", None)


def test_a_gap_between_ranks_is_no_confident_culprit_where_no_line_says_how_many_there_are(
    engine: Engine,
) -> None:
    line = (
        "[rank{0}]:[E1121 07:24:17.183912728 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=27, OpType=ALLREDUCE, NumelIn=263169, NumelOut=263169, Timeout(ms)=15000) ran for "
        "15014 milliseconds before timing out.\n"
    )
    log = "".join(line.format(rank) for rank in (0, 1, 3))
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "straggler-or-hang"
    assert root.confidence <= 0.5
    told = engine.diagnose(Source("job.err", data=("WORLD_SIZE=4\n" + log).encode())).root_cause
    assert told is not None
    assert told.confidence >= root.confidence


CARRIED = (
    "[rank0]: torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([1, 2])\n"
    "[rank0]: Traceback (most recent call last): (RANK 1)\n"
    '[rank0]:   File "/opt/venv/lib/python3.11/site-packages/torch/distributed/checkpoint/utils.py", line 192, in run\n'
    "[rank0]:     local_data = map_fun()\n"
)


def test_an_exception_that_carries_others_counts_where_these_break_off(engine: Engine) -> None:
    cut = engine.diagnose(Source("job.err", data=CARRIED.encode())).root_cause
    assert cut is not None
    assert (cut.rule_id, cut.category, cut.origin.ranks) == ("torch.dcp-failed", "checkpoint", (1, 2))
    whole = CARRIED + "[rank0]: OSError: [Errno 28] No space left on device: '/ckpt/__1_0.distcp'\n"
    told = engine.diagnose(Source("job.err", data=whole.encode())).root_cause
    assert told is not None
    assert told.category == "storage"


PINNING = """step 11 loss 2.0
[rank2]: Traceback (most recent call last):
[rank2]:   File "/workspace/train.py", line 40, in <module>
[rank2]:     for batch in loader:
[rank2]:   File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1440, in _get_data
[rank2]:     raise RuntimeError("Pin memory thread exited unexpectedly")
[rank2]: RuntimeError: Pin memory thread exited unexpectedly
"""


@pytest.mark.parametrize(
    ("before", "category"),
    [
        ("", "data-loading"),
        (
            "[rank2]: RuntimeError: CUDA error: an illegal memory access was encountered\n",
            "cuda-kernel",
        ),
    ],
)
def test_an_error_that_stands_for_another_is_a_failure_alone(
    engine: Engine, before: str, category: str
) -> None:
    result = engine.diagnose(Source("job.err", data=(before + PINNING).encode()))
    assert result.verdict == "failed"
    assert result.root_cause is not None
    assert result.root_cause.category == category


TORN = (
    "[2026-03-05 02:04:5{0} TP{0}] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/opt/sglang/srt/managers/scheduler.py", line 1105, in event_loop\n'
    "    result = self.run_batch(batch)\n"
    "{1}"
    "             ^^^^^^^^^^^^^^^^^^^^^\n"
    '  File "/opt/sglang/srt/layers/moe.py", line 50, in forward\n'
    "    return self.table[key]\n"
    "           ~~~~~~~~~~^^^^^\n"
    "QuotaError: expert 17 has no room for 4096 tokens\n\n"
)


@pytest.mark.parametrize(
    "between",
    [
        "",
        '[2026-03-05 02:04:52] INFO:     127.0.0.1:42674 - "POST /generate HTTP/1.1" 200 OK\n',
        "[2026-03-05 02:04:52 TP0] Scheduler hit an exception: Traceback (most recent call last):\n",
    ],
)
def test_what_others_write_into_a_traceback_is_not_what_was_raised(engine: Engine, between: str) -> None:
    log = "".join(
        f"[2026-03-05 02:04:4{rank} TP{rank}] Load weight end. avail mem=52.1 GB\n" for rank in range(3)
    )
    log += TORN.format(1, "") + TORN.format(2, between)
    root = engine.diagnose(Source("server.log", data=log.encode())).root_cause
    assert root is not None
    assert "no room for 4096 tokens" in root.evidence[0].text
    assert not any(shown.text.lstrip().startswith("result =") for shown in root.evidence)


LOST = (
    '  File "/srv/app/fit.py", line 30, in loop\n'
    "    all_reduce(t)\n"
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:3111.\n"
)


def test_a_head_and_an_end_that_others_lines_part_are_one_exception(engine: Engine) -> None:
    log = "Traceback (most recent call last):\nTraceback (most recent call last):\n" + LOST + LOST
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "rank-crash"


def test_an_end_that_nothing_knows_is_that_of_a_broken_traceback(engine: Engine) -> None:
    head = 'Traceback (most recent call last):\n  File "/srv/app/join.py", line 17, in <module>\n'
    own = "RuntimeError: rank 2 sent 3 rows in round 6, expected 4\n"
    log = (
        head
        + "Traceback (most recent call last):\n"
        + "    check(x)\n"
        + own
        + LOST
        + LOST.replace("3111", "3222")
    )
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.category == "user-code"


@pytest.mark.parametrize(
    ("log", "rule"),
    [
        (
            "Traceback (most recent call last):\n"
            '2026-03-18 05:25:02\npod-7\n  File "/work/train.py", line 100, in <module>\n2026-03-18 05:25:03\npod-7\n'
            "    train(args)\n2026-03-18 05:25:04\npod-7\n"
            "ray.exceptions.ActorUnavailableError: The actor 5f0ac1 is unavailable: The actor is temporarily unavailable\n",
            "ledger.peer-vanished",
        ),
        (
            'Traceback (most recent call last):\n  File "train.py", line 398, in one_epoch\n    loss.backward()\n'
            "RuntimeError: NCCL communicator was aborted.\n"
            'Traceback (most recent call last):\n  File "/usr/lib/python3.6/runpy.py", line 193, i$\n _run_module_as_main\n'
            '    "__main__", mod_spec)\n',
            "unknown.reported",
        ),
    ],
)
def test_a_known_exception_beside_one_that_lost_its_name_tells_more(
    engine: Engine, log: str, rule: str
) -> None:
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is not None
    assert root.rule_id == rule
