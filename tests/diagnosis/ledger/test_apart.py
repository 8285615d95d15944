"""Who was elsewhere: by the call that is shown, by what one said alone, and not by where a rank stands that lost another."""

from __future__ import annotations

import pytest

from triage import Engine, Hypothesis, Source

WAITED = "RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 9000ms for recv operation to complete"
CLOSED = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.4]:1940."
TORCH = "/opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py"


def cause(engine: Engine, *logs: str) -> Hypothesis:
    sources = [Source(f"host{n}.log", data=log.encode()) for n, log in enumerate(logs)]
    root = engine.diagnose(sources).root_cause
    assert root is not None
    return root


def raised(rank: int, line: int, code: str, call: str, error: str = WAITED) -> str:
    tag = f"[rank{rank}]: "
    lines = (
        "Traceback (most recent call last):",
        f'  File "/srv/app/fit.py", line {line}, in update', f"    {code}",
        f'  File "{TORCH}", line 3252, in {call}', "    work.wait()", error,
    )  # fmt: skip
    return "".join(f"{tag}{part}\n" for part in lines)


def turns(form: str, ranks: int) -> str:
    return "".join(form.format(r=r, x=f"turn {k} sum {k * 3}") for k in range(4) for r in range(ranks))


def test_the_call_of_the_odd_one_is_shown(engine: Engine) -> None:
    rest = "".join(raised(r, 40, "dist.all_reduce(grads)", "all_reduce") for r in (0, 1, 3))
    root = cause(engine, rest + raised(2, 55, "dist.broadcast(stage, 0)", "broadcast"))
    assert (root.rule_id, root.origin.rank) == ("ledger.other-call", 2)
    assert any("dist.broadcast(stage, 0)" in e.text for e in root.evidence)


def test_where_a_rank_was_counts_for_more_than_what_another_said(engine: Engine) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    said = turns(form, 4) + form.format(r=3, x="writing a sample of pictures")
    rest = "".join(raised(r, 40, "dist.all_reduce(grads)", "all_reduce") for r in (0, 2, 3))
    root = cause(engine, said + rest + raised(1, 55, "dist.broadcast(stage, 0)", "broadcast"))
    assert (root.rule_id, root.origin.rank) == ("ledger.other-call", 1)


def test_one_in_a_collective_while_all_others_pass_something_on(engine: Engine) -> None:
    ring = "".join(raised(r, 18, "dist.recv(block, left)", "recv") for r in (0, 2, 3, 4))
    root = cause(engine, ring + raised(1, 20, "dist.all_reduce(total)", "all_reduce"))
    assert (root.rule_id, root.origin.rank) == ("ledger.other-call", 1)
    both = "".join(raised(r, 18 if r % 2 else 30, "dist.recv(block, left)", "recv") for r in range(5))
    assert cause(engine, both).rule_id != "ledger.other-call"
    one = "".join(raised(r, 20, "dist.all_reduce(total)", "all_reduce") for r in (0, 2, 3, 4))
    root = cause(engine, one + raised(1, 18, "dist.recv(block, left)", "recv"))
    assert root.rule_id != "ledger.other-call"


def test_of_several_that_are_missing_the_one_that_said_something_else(engine: Engine) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    said = turns(form, 6) + form.format(r=4, x="refreshing the table of weights")
    root = cause(engine, said + "".join(raised(r, 18, "dist.send(h, nxt)", "all_reduce") for r in range(4)))
    assert root.origin.rank == 4


def test_where_a_rank_stands_that_lost_another_tells_nothing(engine: Engine) -> None:
    lost = (
        "[rank{0}]:[E0304 10:00:38.568255860 ProcessGroupNCCL.cpp:612] [Rank 0] Collective WorkNCCL(SeqNum=163, OpType=ALLREDUCE, "
        "NumelIn=32768, NumelOut=32768, Timeout(ms)=15000) raised the following async exception: NCCL error: remote process "
        "exited or there was a network error, NCCL version 2.28.9\n"
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n"
        "Last error:\nsocketProgress: Connection closed by remote peer\n"
    )
    wait = (
        "[rank{0}]:[E0304 10:00:52.363040001 ProcessGroupNCCL.cpp:689] [Rank {0}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum={1}, OpType={2}, NumelIn=64, NumelOut=64, Timeout(ms)=15000) ran for 15010 milliseconds before timing out.\n"
    )
    one = (
        lost.format(1) + lost.format(0) + wait.format(1, 331, "BROADCAST") + wait.format(0, 332, "ALLREDUCE")
    )
    killed = (
        "E0304 10:00:38.655000 670 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: -9) local_rank: 1 "
        "(pid: 751) of binary: /usr/bin/python3\n"
        "============\nfit.py FAILED\n------------\nFailures:\n  <NO_OTHER_FAILURES>\n------------\n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-03-04_10:00:38\n  host      : n1\n"
        "  rank      : 3 (local_rank: 1)\n  exitcode  : -9 (pid: 751)\n  error_file: <N/A>\n"
        "  traceback : Signal 9 (SIGKILL) received by PID 751\n============\n"
    )
    root = cause(engine, one, killed)
    assert (root.category, root.origin.rank) == ("rank-crash", 3)
    assert (
        cause(engine, wait.format(1, 331, "BROADCAST") + wait.format(0, 332, "ALLREDUCE")).category
        == "collective-desync"
    )


def test_who_alone_is_spared_by_all_launchers_had_left(engine: Engine) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    entry = (
        "[{0}]:\n  time      : 2026-03-04_10:00:38\n  host      : n1\n  rank      : {0} (local_rank: {0})\n"
        "  exitcode  : {1} (pid: 75{0})\n  error_file: <N/A>\n  traceback : Signal 15 (SIGTERM) received by PID 75{0}\n"
    )
    log = turns(form, 5) + form.format(r=3, x="finished")
    log += "".join(raised(r, 15, "dist.all_reduce(q)", "all_reduce", CLOSED) for r in (1, 2, 4))
    log += (
        "E0304 10:00:38.655000 670 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) local_rank: 1 "
        "(pid: 751) of binary: /usr/bin/python3\n============\nfit.py FAILED\n------------\nFailures:\n"
        + entry.format(0, -15) + entry.format(2, -15) + entry.format(4, 1)
        + "------------\nRoot Cause (first observed failure):\n" + entry.format(1, 1) + "============\n"
    )  # fmt: skip
    root = cause(engine, log)
    assert (root.rule_id, root.origin.rank) == ("ledger.finished-early", 3)


@pytest.mark.parametrize("words", ["nothing left in my list", "nothing more for me", "nothing else to do"])
def test_who_has_nothing_left_has_left(engine: Engine, words: str) -> None:
    form = "2026-03-04 10:00:00 INFO rank={r} {x}\n"
    lost = "".join(raised(r, 15, "dist.all_reduce(q)", "all_reduce", CLOSED) for r in (0, 1, 3, 4))
    root = cause(engine, turns(form, 5) + form.format(r=2, x=words) + lost)
    assert (root.rule_id, root.origin.rank) == ("ledger.finished-early", 2)


def test_who_alone_had_come_elsewhere_is_quoted_where_sizes_do_not_fit(engine: Engine) -> None:
    abort = (
        "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
        "  what():  [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. "
        "172 vs 4. Received data size doesn't match expected size.\n"
    )
    lost = "".join(raised(r, 15, "loss.backward()", "all_reduce", CLOSED) for r in (0, 2))
    root = cause(engine, "gpu3 | epoch 0 | 38 batches | 0.0053\n" + abort + lost)
    assert root.category == "collective-desync"
    assert any("38 batches" in e.text for e in root.evidence)


@pytest.mark.parametrize(("call", "rank"), [("all_gather", 0), ("gather", None)])
def test_the_main_process_that_calls_alone_what_has_no_root(
    engine: Engine, call: str, rank: int | None
) -> None:
    rest = "".join(raised(r, 12, "accelerator.backward(loss)", "_engine_run_backward") for r in (1, 2))
    root = cause(engine, rest + raised(0, 14, f"dist.{call}(parts, loss)", call))
    assert root.origin.rank == rank


def test_what_is_not_known_of_a_call_is_not_told(engine: Engine) -> None:
    root = cause(
        engine, "".join(raised(r, 12, "dist.barrier()", "barrier") for r in (0, 1, 2)) + "world size: 3\n"
    )
    assert "same sizes" not in root.summary
