"""Numbers in names that turn out to be ranks, and those that do not."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source
from triage.model import Origin

SEGV = (
    "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f1a15e47b80 (most recent call first):\n"
    '  File "/workspace/train.py", line 12 in main\n'
)


def wait(rank: int, seq: int = 19) -> str:
    """What the watchdog of ``rank`` prints."""
    return (
        f"[rank{rank}]:[E1121 10:03:11.469789736 ProcessGroupNCCL.cpp:689] [Rank {rank}] Watchdog caught collective "
        f"operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=2048, NumelOut=2048, Timeout(ms)=12000) "
        "ran for 12015 milliseconds before timing out.\n"
    )


def loss(rank: int) -> str:
    """What a rank raises whose peer is gone."""
    return (
        f"[rank{rank}]: Traceback (most recent call last):\n"
        f'[rank{rank}]:   File "/workspace/train.py", line 16, in main\n'
        f"[rank{rank}]:     dist.all_reduce(total)\n"
        f"[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed "
        "by peer [127.0.0.1]:52460\n"
    )


def blamed(found: Diagnosis) -> Origin:
    """Where it began."""
    assert found.root_cause is not None
    return found.root_cause.origin


def diagnosed(engine: Engine, texts: dict[str, str]) -> Origin:
    """Whom the files blame."""
    return blamed(engine.diagnose([Source(n, path=None, data=t.encode()) for n, t in texts.items()]))


@pytest.mark.parametrize(
    "name",
    [
        "out.{}.log",
        "slurm-7731_{}.err",
        "job/{}/stderr.log",
        "x_ab1/attempt_0/{}/stderr.log",
        "train-worker-{}.log",
    ],
)
def test_a_silent_file_among_ranks_is_a_rank(engine: Engine, name: str) -> None:
    texts = {name.format(r): "starting\n" if r == 6 else wait(r) for r in range(8)}
    assert diagnosed(engine, texts).ranks == (6,)


def test_a_native_crash_is_that_of_the_file_s_rank(engine: Engine) -> None:
    assert diagnosed(engine, {"out.0.log": loss(0), "out.1.log": SEGV}).rank == 1


def test_standard_output_and_error_of_one_rank_belong_together(engine: Engine) -> None:
    texts = {f"err.{r}.log": loss(r) for r in (0, 2, 3)} | {
        f"out.{r}.log": SEGV if r == 1 else "ok\n" for r in range(4)
    }
    assert diagnosed(engine, texts).rank == 1
    del texts["out.0.log"]
    assert diagnosed(engine, texts).rank is None


def test_pods_may_count_from_another_number(engine: Engine) -> None:
    lines = [f"[pod/job-worker-{n}/pytorch] {line}\n" for n in (0, 2) for line in loss(n + 1).splitlines()]
    lines += [f"[pod/job-worker-1/pytorch] {line}\n" for line in SEGV.splitlines()]
    assert blamed(engine.diagnose(Source("kubectl.log", data="".join(lines).encode()))).rank == 2


def test_numbers_of_nodes_are_no_ranks(engine: Engine) -> None:
    both = {f"node.{n}.log": loss(2 * n) + loss(2 * n + 1) for n in range(2)}
    assert diagnosed(engine, {**both, "node.2.log": SEGV}).rank is None


def test_numbers_that_contradict_the_ranks_are_none(engine: Engine) -> None:
    texts = {"run7/out.0.log": loss(2), "run7/out.1.log": loss(0), "run7/out.2.log": SEGV}
    assert diagnosed(engine, texts).rank is None


def test_numbers_without_any_rank_are_none(engine: Engine) -> None:
    texts = {f"job_{n}.out": SEGV if n == 1 else "ok\n" for n in range(3)}
    assert diagnosed(engine, texts).rank is None


def test_files_under_headers_are_sources_of_their_own(engine: Engine) -> None:
    parts = [
        f"==> logs/out.{r}.log <==\n" + ("step 3 starts\n" if r == 2 else wait(r)) + "\n" for r in range(4)
    ]
    found = engine.diagnose(Source("-", data="".join(parts).encode()))
    assert blamed(found).ranks == (2,)
    crash = [f"==> logs/out.{r}.log <==\n" + (SEGV if r == 2 else loss(r)) + "\n" for r in range(4)]
    assert blamed(engine.diagnose(Source("-", data="".join(crash).encode()))).rank == 2


def test_who_alone_was_told_of_a_timeout_did_not_take_part(engine: Engine) -> None:
    told = (
        "[rank{0}]:[E1120 18:09:07.043849410 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank {0}] Received a "
        "dump signal due to a collective timeout from  rank {1} and we will try our best to dump the debug info. Last "
        "enqueued NCCL work: {2}, last completed NCCL work: {3}.\n"
    )
    two = (
        "gpu-a1:90:90 [1] NCCL INFO ncclCommInitRankConfig comm 0x39e87920 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 70 "
        "commId 0x6fd9ce6e0cb4b3e3 - Init COMPLETE\n"
    )
    assert blamed(engine.diagnose(Source("a.log", data=(two + told.format(1, 0, 5, 5)).encode()))).rank == 1
    assert (
        blamed(engine.diagnose(Source("a.log", data=(two + told.format(1, 0, 6, 5)).encode()))).rank is None
    )
    assert blamed(engine.diagnose(Source("a.log", data=told.format(0, 13, 5, 5).encode()))).rank is None


def test_a_node_counts_its_ranks_from_zero(engine: Engine) -> None:
    first = "".join(f"[default{r}]:" + wait(r) for r in range(2))
    found = engine.diagnose(
        [Source("n1.err", data=first.encode()), Source("n2.err", data=b"[default1]:" + wait(3).encode())]
    )
    assert blamed(found).ranks == (2,)


def test_programs_say_at_their_start_which_rank_they_are(engine: Engine) -> None:
    init = {
        n: f"[pod/a-{p}/pytorch] | distributed init (rank {n}): env://\n"
        for n, p in enumerate(("master-0", "worker-0", "worker-1"))
    }
    crash = "".join(f"[pod/a-worker-1/pytorch] {line}\n" for line in SEGV.splitlines())
    found = engine.diagnose(Source("kubectl.log", data=("".join(init.values()) + crash).encode()))
    assert blamed(found).rank == 2


def test_numbers_within_groups_are_no_ranks(engine: Engine) -> None:
    def old(rank: int, seq: int, op: str) -> str:
        return (
            f"[E ProcessGroupNCCL.cpp:475] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, "
            f"OpType={op}, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600033 milliseconds before timing out.\n"
        )

    groups = old(0, 412, "ALLREDUCE") + old(1, 412, "ALLREDUCE") + old(0, 99, "REDUCE") + old(3, 99, "REDUCE")
    assert blamed(engine.diagnose(Source("job.err", data=groups.encode()))).rank is None
    one = (
        old(0, 412, "ALLREDUCE") + old(1, 412, "ALLREDUCE") + old(0, 413, "REDUCE") + old(3, 412, "ALLREDUCE")
    )
    assert blamed(engine.diagnose(Source("job.err", data=one.encode()))).ranks == (2,)


USAGE = "usage: align.py [-h] [--beam BEAM]\nalign.py: error: argument --beam: invalid int value: 'four'\n"
JOINS = """rank {0} arguments Namespace(lr=0.1, beam=4)
Traceback (most recent call last):
  File "align.py", line 6, in <module>
    dist.init_process_group('gloo')
torch.distributed.DistStoreError: wait timeout after 20000ms, keys: /default_pg/0//cuda//0
"""


def test_files_are_numbered_by_rank_where_their_lines_say_so(engine: Engine) -> None:
    for ranks, guilty in (((0, 1), 2), ((3, 5), None)):
        texts = [*(JOINS.format(rank) for rank in ranks), USAGE]
        logs = [Source(f"out.{n}.log", data=text.encode()) for n, text in enumerate(texts)]
        root = engine.diagnose(logs).root_cause
        assert root is not None
        assert (root.category, root.origin.rank) == ("config", guilty)


@pytest.mark.parametrize(("ended", "rank"), [(4, 2), (3, None)])
def test_files_are_as_many_as_the_ranks_that_torchrun_saw_end(
    engine: Engine, ended: int, rank: int | None
) -> None:
    texts = {
        f"pinn.{r:02d}.log": "".join(f"{n:6d} 1.2e-02\n" for n in range(0, 60, 10)) + "    60 residual loss is nan, giving up\n" * (r == 2)
        for r in range(4)
    }  # fmt: skip
    rows = "".join(
        f"[{r}]:\n  time      : 2026-11-22_18:23:43\n  host      : n1\n  rank      : {r} (local_rank: {r})\n"
        f"  exitcode  : 2 (pid: {700 + r})\n  error_file: <N/A>\n"
        for r in range(ended)
    )
    texts["torchrun.log"] = rows
    root = engine.diagnose([Source(name, data=text.encode()) for name, text in texts.items()]).root_cause
    assert root is not None and (root.category, root.origin.rank) == ("numerics", rank)
