"""Which rank did not come as far as the others, by lines that name nobody in the error itself."""

from __future__ import annotations

from triage import Engine, Source

GLOO = (
    "Traceback (most recent call last):\n"
    '  File "/w/fit.py", line 38, in step\n    dist.all_reduce(flat)\n'
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 8000ms for recv "
    "operation to complete\n"
)
STATUS = (
    "[rank{0}]:[E1103 02:00:0{3}.123456789 ProcessGroupNCCL.cpp:629] [Rank {1}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=216, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600012 milliseconds before "
    "timing out.\n"
    "[rank{0}]:[E1103 02:00:0{3}.123456999 ProcessGroupNCCL.cpp:2168] [PG ID 5 PG GUID 37({4}) Rank {1}]  failure "
    "detected by watchdog at work sequence id: 216 PG status: last enqueued work: {2}, last completed work: 215\n"
)


def _rank(engine: Engine, *texts: str) -> int | None:
    root = engine.diagnose(
        [Source(name, data=text.encode()) for name, text in zip(("out.txt", "err.txt"), texts, strict=False)]
    ).root_cause
    assert root is not None
    return root.origin.rank


def test_who_was_never_ready_is_named_where_errors_have_no_names(engine: Engine) -> None:
    order = (3, 0, 6, 1, 5, 2, 7, 4)
    said = "".join(f"<{n}> connected, 8 processes\n" for n in order)
    ready = "".join(f"<{n}> data ready, 24 batches\n" for n in order[::-1] if n != 5)
    assert _rank(engine, said + ready, GLOO * 5) == 5
    assert _rank(engine, said + ready + "<5> data ready, 24 batches\n", GLOO * 5) is None


def test_who_is_silent_in_a_sub_group_is_told_by_its_stride(engine: Engine) -> None:
    others = "".join(
        STATUS.format(rank, rank - 40, 218, rank - 40, "TENSOR_MODEL_PARALLEL_GROUP") for rank in (40, 41, 43)
    )
    assert _rank(engine, others) == 42


def test_who_issued_less_than_all_others_was_held_up(engine: Engine) -> None:
    waits = "".join(
        STATUS.format(rank, rank, 217 if rank == 2 else 218, rank, "default_pg") for rank in range(5)
    )
    assert _rank(engine, waits.replace("37(", "0(").replace("PG ID 5", "PG ID 0")) == 2


def test_the_process_that_ended_first_raised_what_no_other_did(engine: Engine) -> None:
    raised = 'Traceback (most recent call last):\n  File "/w/feed.py", line 15, in parse\n    return float(cell)\nValueError: bad cell\n'
    ends = "".join(
        f"[launch] worker {n} (pid {900 + n}) ended with status 1 after 17.{k} s\n"
        for k, n in enumerate((2, 0, 3, 1))
    )
    assert _rank(engine, raised + ends) == 2


def test_what_all_ranks_met_alike_is_nobodys(engine: Engine) -> None:
    lines = "".join(
        f'[rank{n}]: Traceback (most recent call last):\n[rank{n}]:   File "/w/fit.py", line 9, in <module>\n'
        f"[rank{n}]:     fit()\n[rank{n}]: FileNotFoundError: [Errno 2] No such file or directory: '/lake/v7/meta.json'\n"
        for n in (2, 0, 1)
    )
    assert _rank(engine, lines) is None


def test_files_of_a_node_and_a_number_on_it(engine: Engine) -> None:
    lost = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.1]:88\n"
    head = 'Traceback (most recent call last):\n  File "/w/fit.py", line 9, in step\n    dist.all_reduce(x)\n'
    own = 'Traceback (most recent call last):\n  File "/w/fit.py", line 7, in step\n    check(x)\nArithmeticError: objective is inf\n'
    sources = [
        Source(f"node{node}/gpu{n}.log", data=(own if (node, n) == (1, 1) else head + lost).encode())
        for node in (0, 1) for n in (0, 1, 2)
    ]  # fmt: skip
    root = engine.diagnose(sources).root_cause
    assert root is not None
    assert root.origin.rank == 4


def test_hosts_in_order_place_their_processes(engine: Engine) -> None:
    steps = "".join(
        f'{{"time": "2026-11-03T02:0{m}:00Z", "host": "pod-{h}", "local_rank": {n}, "message": "step {m}"}}\n'
        for m in range(4) for h in (0, 1) for n in range(4)
    )  # fmt: skip
    raised = (
        '{"time": "2026-11-03T02:07:00Z", "host": "pod-1", "local_rank": 3, "level": "ERROR", "message": "failed", '
        '"exc_info": "Traceback (most recent call last):\\n  File \\"/w/x.py\\", line 8, in f\\n    y = d[k]\\nKeyError: 3"}\n'
    )
    assert _rank(engine, steps + raised) == 7


def test_what_many_say_of_a_lost_connection_is_nobodys_own(engine: Engine) -> None:
    lines = "".join(f"12:0{m}:00 INFO rank={r} step={m}\n" for m in range(6) for r in (2, 0, 3, 1))
    own = "12:09:01 ERROR rank=2 shard reader: unexpected end of record at byte 88123\n"
    lost = "".join(f"12:09:02 ERROR rank={r} all_reduce: connection reset by peer\n" for r in (3, 0, 1))
    assert _rank(engine, lines + own + lost) == 2
