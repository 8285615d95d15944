"""Which process group a rank waits in, who belongs to it, and which ranks there must be."""

from __future__ import annotations

import pytest

from triage import Diagnosis, Engine, Source


def waits(rank: int, group: str, seq: int, *, op: str = "ALLREDUCE", numel: int = 2048) -> str:
    """What the watchdog of ``rank`` prints for one collective of ``group``."""
    head = f"[rank{rank}]:[E1121 10:03:11.469789736 ProcessGroupNCCL.cpp"
    return (
        f"{head}:689] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, "
        f"OpType={op}, NumelIn={numel}, NumelOut={numel}, Timeout(ms)=12000) ran for 12015 milliseconds before "
        f"timing out.\n{head}:2303] [{group}]  failure detected by watchdog at work sequence id: {seq} PG status: "
        f"last enqueued work: {seq}, last completed work: {seq - 1}\n"
    )


def alive(rank: int) -> str:
    """What a rank prints that is told of a timeout and has none of its own."""
    return (
        f"[rank{rank}]:[E1121 10:03:11.612499794 ProcessGroupNCCL.cpp:1849] [PG ID 0 PG GUID 0 Rank {rank}] "
        "Observed flight recorder dump signal from another rank via TCPStore.\n"
    )


def default(rank: int) -> str:
    """The default group as a line names it."""
    return f"PG ID 0 PG GUID 0(default_pg) Rank {rank}"


def cause(diagnosis: Diagnosis) -> tuple[str, tuple[int, ...]]:
    """The rule and the ranks of the root cause."""
    assert diagnosis.root_cause is not None
    return diagnosis.root_cause.rule_id, diagnosis.root_cause.origin.ranks


def files(texts: dict[int, str]) -> list[Source]:
    """One file per rank, named after it."""
    return [Source(f"rank{rank}.log", data=text.encode(), rank=rank) for rank, text in texts.items()]


MESH = {0: ("1", "dp", 0, 6), 2: ("1", "dp", 1, 6), 3: ("2", "dp", 1, 5)}


def test_groups_that_share_a_description_are_not_compared(engine: Engine) -> None:
    lines = [waits(r, f"PG ID 1 PG GUID {g}({d}) Rank {n}", seq) for r, (g, d, n, seq) in MESH.items()]
    found = engine.diagnose(Source("job.err", data="".join([*lines, alive(1)]).encode()))
    assert cause(found) == ("ledger.never-entered-silent", (1,))


def test_an_index_or_a_description_alone_is_no_name_of_a_sub_group(engine: Engine) -> None:
    lines = [waits(r, f"PG 1 ({d}) Rank {n}", seq) for r, (_, d, n, seq) in MESH.items()]
    found = engine.diagnose(Source("job.err", data="".join([*lines, alive(1)]).encode()))
    assert cause(found) == ("ledger.never-entered-silent", (1,))


def test_members_of_one_sub_group_are_compared(engine: Engine) -> None:
    ranks = [(0, 0, "ALLREDUCE"), (2, 1, "ALLREDUCE"), (4, 2, "BROADCAST")]
    lines = [waits(r, f"PG ID 1 PG GUID 7(dp) Rank {n}", 6, op=op) for r, n, op in ranks]
    found = engine.diagnose(Source("job.err", data="".join(lines).encode()))
    assert cause(found) == ("ledger.desync", (4,))


def test_a_rank_that_times_out_in_two_groups_waits_in_both(engine: Engine) -> None:
    both = waits(0, "PG ID 1 PG GUID 1(dp) Rank 0", 6) + waits(0, "PG ID 2 PG GUID 3(tp) Rank 0", 6, numel=8)
    lines = [both, waits(1, "PG ID 2 PG GUID 3(tp) Rank 1", 6, numel=16)]
    found = engine.diagnose(Source("job.err", data="".join(lines).encode()))
    row = next(r for r in found.ranks if r.rank == 0)
    assert (row.group, row.sequence, row.elements_in) == ("dp", 6, 2048)


def test_a_gap_in_a_shared_log_is_a_rank(engine: Engine) -> None:
    text = "".join(waits(r, default(r), 19) for r in (0, 2, 3))
    assert cause(engine.diagnose(Source("job.err", data=text.encode()))) == (
        "ledger.never-entered-silent",
        (1,),
    )


def test_a_gap_between_files_is_none_unless_one_of_them_is_empty(engine: Engine) -> None:
    texts = {r: waits(r, default(r), 19) for r in (0, 2, 3)}
    assert cause(engine.diagnose(files(texts)))[0] == "ledger.waiting-unlocalised"
    found = engine.diagnose(files({**texts, 1: ""}))
    assert cause(found) == ("ledger.never-entered-silent", (1,))


def test_a_node_whose_log_is_not_given_is_not_blamed(engine: Engine) -> None:
    nodes = [range(4), range(8, 12)]
    sources = [
        Source(f"node{n}.log", data="".join(waits(r, default(r), 19) for r in ranks).encode())
        for n, ranks in enumerate(nodes)
    ]
    assert cause(engine.diagnose(sources))[1] == ()


@pytest.mark.parametrize(
    ("ranks", "odd"),
    [
        ({0: (16, "ALLGATHER"), 1: (15, "ALLREDUCE"), 2: (15, "ALLGATHER"), 3: (16, "ALLGATHER")}, (1,)),
        ({0: (6, "ALLREDUCE"), 1: (6, "ALLREDUCE"), 2: (4, "BROADCAST"), 3: (5, "BROADCAST")}, (2,)),
        ({0: (5, "ALLREDUCE"), 1: (5, "ALLREDUCE"), 2: (6, "ALLREDUCE")}, (2,)),
        ({0: (5, "ALLREDUCE"), 1: (5, "ALLREDUCE"), 2: (5, "REDUCE"), 3: (5, "REDUCE")}, ()),
        ({0: (5, "ALLREDUCE"), 1: (6, "ALLREDUCE")}, ()),
    ],
)
def test_the_odd_rank_is_found_at_the_lowest_sequence(
    engine: Engine, ranks: dict[int, tuple[int, str]], odd: tuple[int, ...]
) -> None:
    text = "".join(waits(r, default(r), seq, op=op) for r, (seq, op) in ranks.items())
    found = engine.diagnose(Source("job.err", data=text.encode()))
    assert cause(found) == ("ledger.desync" if odd else "ledger.desync-tie", odd)


def test_a_rank_behind_is_told_to_be_behind(engine: Engine) -> None:
    text = "".join(waits(r, default(r), 4 if r == 2 else 6) for r in range(4))
    root = engine.diagnose(Source("job.err", data=text.encode())).root_cause
    assert root is not None
    assert (
        "rank 2 entered ALLREDUCE (2048 elements) while the others had gone on to ALLREDUCE (sequence 6)"
        in (root.summary)
    )


def test_a_line_that_was_cut_off_contradicts_nothing(engine: Engine) -> None:
    cut = waits(2, default(2), 19).replace(
        "OpType=ALLREDUCE, NumelIn=2048, NumelOut=2048, ", "OpType=ALLREDUCE, "
    )
    text = waits(0, default(0), 19) + waits(1, default(1), 19) + cut + waits(4, default(4), 19)
    assert cause(engine.diagnose(Source("job.err", data=text.encode()))) == (
        "ledger.never-entered-silent",
        (3,),
    )


def exchange(rank: int, sent: int, expected: int) -> str:
    """What the watchdog of ``rank`` prints for an all-to-all of the default group."""
    text = waits(rank, default(rank), 40, op="ALLTOALL_BASE", numel=sent)
    return text.replace(f"NumelOut={sent}", f"NumelOut={expected}")


def test_an_all_to_all_must_send_what_it_expects(engine: Engine) -> None:
    texts = {
        0: "using world size: 2, data-parallel size: 2\n" + exchange(0, 512, 640),
        1: "using world size: 2, data-parallel size: 2\n" + exchange(1, 512, 512),
    }
    assert cause(engine.diagnose(files(texts)))[0] == "ledger.uneven-exchange"
    texts[1] = "using world size: 2, data-parallel size: 2\n" + exchange(1, 640, 512)
    assert cause(engine.diagnose(files(texts)))[0] != "ledger.uneven-exchange"


def old(number: int, seq: int, elapsed: int) -> str:
    """What torch before 2.2 prints: the number counts within a group that the line does not name."""
    return (
        f"[E ProcessGroupNCCL.cpp:475] [Rank {number}] Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for {elapsed} "
        "milliseconds before timing out.\n"
    )


def test_one_number_of_several_waits_is_no_rank(engine: Engine) -> None:
    once = engine.diagnose(
        Source("job.err", data=(old(0, 9, 600110) + old(1, 8, 600120) + old(2, 9, 600101)).encode())
    )
    assert cause(once) == ("ledger.desync", (1,))
    text = old(0, 9, 600110) + old(1, 8, 600120) + old(2, 9, 600101) + old(0, 31, 600177)
    assert cause(engine.diagnose(Source("job.err", data=text.encode())))[1] == ()


def test_what_nobody_in_particular_said_last_is_the_late_one_s(engine: Engine) -> None:
    said = (
        "[07/25/22 10:46:12] INFO     colossalai - root - INFO: Started Jackhmmer (uniref90.fasta) query\n"
        "[07/25/22 11:11:43] INFO     colossalai - root - INFO: Finished HHsearch query in 41.348 seconds\n"
        "                    INFO     colossalai - root - INFO: Started Jackhmmer (mgy.fa) query\n"
    )
    gave_up = "".join(
        f"[E ProcessGroupNCCL.cpp:737] [Rank {rank}] Watchdog caught collective operation timeout: "
        f"WorkNCCL(OpType=BROADCAST, Timeout(ms)=1800000) ran for 180{rank}512 milliseconds before timing out.\n"
        for rank in (1, 2, 3)
    )
    found = engine.diagnose(Source("job.log", data=(said + gave_up).encode()))
    assert cause(found) == ("ledger.never-entered-silent", (0,))
    assert found.root_cause is not None
    assert any("Started Jackhmmer (mgy.fa)" in piece.text for piece in found.root_cause.evidence)


def test_a_launcher_names_by_its_local_rank_the_process_that_its_table_lists(engine: Engine) -> None:
    text = "".join(f"[rank{r}]: step {s} loss 2.{s}\n" for s in (1, 2, 3) for r in range(8))
    text += (
        "E1121 10:03:41.220000 2090 torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: -9) "
        "local_rank: 1 (pid: 2201) of binary: /usr/bin/python3\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n" + "=" * 60 + "\n"
        "train.py FAILED\n" + "-" * 60 + "\nFailures:\n  <NO_OTHER_FAILURES>\n" + "-" * 60 + "\n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-11-21_10:03:40\n  host      : gpu-b\n"
        "  rank      : 5 (local_rank: 1)\n  exitcode  : -9 (pid: 2201)\n  error_file: <N/A>\n"
        "  traceback : Signal 9 (SIGKILL) received by PID 2201\n" + "=" * 60 + "\n"
    )
    assert cause(engine.diagnose(Source("job.log", data=text.encode()))) == ("ledger.killed", (5,))
