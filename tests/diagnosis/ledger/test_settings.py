"""Ranks whose NCCL was told different things."""

from __future__ import annotations

import pytest

from triage import Engine, Source


def line(rank: int, text: str) -> str:
    return f"[1,{rank}]<stdout>:gpu-0{rank // 2}:{900 + rank}:{900 + rank} [{rank % 2}] NCCL INFO {text}\n"


def started(values: dict[int, str], name: str = "NCCL_PROTO") -> str:
    """What the ranks' NCCL prints at the start: its settings and the communicator that it begins."""
    text = ""
    for rank, value in values.items():
        text += line(rank, f"{name} set by environment to {value}.")
        text += line(rank, "NCCL_IB_DISABLE set by environment to 1.")
        text += line(
            rank, f"ncclCommInitRank comm 0x{rank}5 rank {rank} nranks {len(values)} cudaDev {rank % 2} nvmlDev 0 busId 60 "
            "commId 0x68280570c254bbcd - Init START"
        )  # fmt: skip
    return text


ODD = {0: "Simple", 1: "LL", 2: "Simple", 3: "Simple"}


def test_a_rank_told_otherwise_is_to_blame_where_nothing_begins(engine: Engine) -> None:
    root = engine.diagnose(Source("job.err", data=started(ODD).encode())).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("ledger.settings-differ", 1)
    assert "NCCL_PROTO" in root.summary


@pytest.mark.parametrize(
    "log",
    [
        started(dict.fromkeys(range(4), "LL")),
        started(ODD, "NCCL_SOCKET_IFNAME"),  # nodes may name their interfaces differently
        started({0: "LL", 1: "LL", 2: "Simple", 3: "Simple"}),  # no majority
        started(ODD) + "step 1 loss 2.0\nstep 2 loss 1.9\nstep 3 loss 1.8\n",  # it works all the same
    ],
)
def test_what_need_not_be_the_same_or_does_no_harm(engine: Engine, log: str) -> None:
    root = engine.diagnose(Source("job.err", data=log.encode())).root_cause
    assert root is None or root.rule_id != "ledger.settings-differ"


def starting(sizes: dict[int, int]) -> str:
    return "".join(
        f"{r}: 2026-11-21 13:02:59,776 - rank{r} - train - INFO: ready, world size {n}, device cuda:{r}\n"
        for r, n in sizes.items()
    )


def test_a_rank_that_counts_on_other_ranks(engine: Engine) -> None:
    root = engine.diagnose(Source("job.err", data=starting({0: 4, 1: 4, 2: 4, 3: 8}).encode())).root_cause
    assert root is not None
    assert (root.rule_id, root.category, root.origin.rank) == ("ledger.worlds-differ", "config", 3)


@pytest.mark.parametrize("sizes", [{0: 4, 1: 4, 2: 4, 3: 4}, {0: 4, 1: 8}, {0: 4, 1: 4, 2: 8, 3: 8}])
def test_worlds_that_agree_or_have_no_majority(engine: Engine, sizes: dict[int, int]) -> None:
    root = engine.diagnose(Source("job.err", data=starting(sizes).encode())).root_cause
    assert root is None or root.rule_id != "ledger.worlds-differ"


def test_another_release_on_the_one_rank_that_raised_is_the_cause(engine: Engine) -> None:
    said = "".join(
        f"node-{r} | rank {r}: ranklib {'1.4.0' if r == 2 else '1.6.2'} loaded\n" for r in range(4)
    )
    raised = (
        'node-2 | [rank2]: Traceback (most recent call last):\nnode-2 | [rank2]:   File "/srv/fit.py", line 8, in <module>\n'
        "node-2 | [rank2]:     model = ranklib.build(**settings)\n"
        "node-2 | [rank2]: TypeError: build() got an unexpected keyword argument 'rope'\n"
    )
    waits = "".join(
        f"node-{r} | [rank{r}]:[E1121 09:14:0{r}.204512340 ProcessGroupNCCL.cpp:689] [Rank {r}] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=60000) ran for 60012 "
        "milliseconds before timing out.\n"
        for r in (0, 1, 3)
    )
    root = engine.diagnose(Source("job.log", data=(said + raised + waits).encode())).root_cause
    assert root is not None
    assert (root.rule_id, root.category, root.origin.rank) == (
        "ledger.releases-differ",
        "driver-or-version",
        2,
    )
    places = [(piece.path, piece.line) for piece in root.evidence]
    assert len(places) == len(set(places))
    same = said.replace("1.4.0", "1.6.2")
    root = engine.diagnose(Source("job.log", data=(same + raised + waits).encode())).root_cause
    assert root is not None
    assert (root.category, root.origin.rank) == ("user-code", 2)


def test_who_was_set_up_otherwise_and_waits_alone_is_named(engine: Engine) -> None:
    said = "".join(
        f"slot[{r}] rank {r}/4 device={'cpu' if r == 1 else f'cuda:{r}'} backend={'gloo' if r == 1 else 'nccl'} seed=7\n"
        for r in range(4)
    )
    raised = "".join(
        f"slot[1] {row}\n"
        for row in (
            "Traceback (most recent call last):", '  File "/srv/any.py", line 12, in <module>',
            "    dist.init_process_group(backend)", "  File \"/srv/any.py\", line 3, in helper", "    backend_class = ProcessGroupGloo(",
            "torch.distributed.DistStoreError: wait timeout after 30000ms, keys: /default_pg/0//cpu//0/0",
        )
    )  # fmt: skip
    root = engine.diagnose(Source("job.log", data=(said + raised).encode())).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.rank) == ("ledger.started-otherwise", 1)
    assert any("backend=gloo" in piece.text for piece in root.evidence)


def versions(odd: tuple[int, ...]) -> str:
    return "".join(
        line(rank, f"NCCL version {'2.18.3+cuda12.1' if rank in odd else '2.21.5+cuda12.4'}")
        for rank in range(6)
    )


GARBLED = "".join(
    line(rank, "x").replace(
        "NCCL INFO x", "bootstrap.cc:77 NCCL WARN Message truncated : received 1024 bytes instead of 256"
    )
    for rank in (0, 4)
)


def test_the_fewer_with_another_nccl_are_named(engine: Engine) -> None:
    root = engine.diagnose([Source("job.log", data=(versions((4, 5)) + GARBLED).encode())]).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.ranks) == ("ledger.nccl-differs", (4, 5))


@pytest.mark.parametrize("odd", [(), (3, 4, 5)])
def test_where_all_or_half_have_the_same_nobody_is(engine: Engine, odd: tuple[int, ...]) -> None:
    root = engine.diagnose([Source("job.log", data=(versions(odd) + GARBLED).encode())]).root_cause
    assert root is not None
    assert (root.rule_id, root.origin.ranks) == ("nccl.bootstrap-truncated", ())


def test_other_versions_do_no_harm_where_work_goes_on(engine: Engine) -> None:
    steps = "".join(line(n % 6, "x").replace("NCCL INFO x", f"step {n} loss 2.{n:03d}") for n in range(60))
    assert engine.diagnose([Source("job.log", data=(versions((4, 5)) + steps).encode())]).verdict == "healthy"
