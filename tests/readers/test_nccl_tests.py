from __future__ import annotations

from pathlib import Path

import pytest

from triage.model import Finding, Source
from triage.readers.nccl_tests import NcclTestsReader, find_runs, findings_in

DATA = Path(__file__).parent / "data" / "nccl_tests"
READER = NcclTestsReader()
CONTEXT = {"fabric.nccl-tests-rank", "fabric.nccl-tests-result", "fabric.nccl-tests-finished"}


def load(name: str) -> str:
    return (DATA / f"{name}.txt").read_text()


def findings(text: str) -> list[Finding]:
    assert READER.recognise("x", text.encode())
    return list(READER.read(text.encode(), Source("x"), 0).findings)


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("h100-8", []),
        ("h100-2x8", []),
        ("a100-cut", []),
        ("h100-8-wrong", ["fabric.nccl-tests-wrong-values"]),
        ("h100-8-slow", ["fabric.nccl-tests-slow"]),
        ("h100-2x8-tcp", ["fabric.nccl-tests-slow"]),
        ("without-mpi", ["fabric.nccl-tests-without-mpi"]),
    ],
)
def test_results(name: str, rules: list[str]) -> None:
    assert [f.rule_id for f in findings(load(name)) if f.rule_id not in CONTEXT] == rules


def test_ranks_are_joined_with_gpus() -> None:
    ranks = [f for f in findings(load("h100-2x8")) if f.rule_id == "fabric.nccl-tests-rank"]
    last = ranks[15]
    assert (last.rank, last.host, last.gpu, last.pid) == (15, "gpu-a002", 7, 91135)
    assert last.fields["pci"] == "0000:92:00.0"
    assert last.fields["world_size"] == 16
    old = [f for f in findings(load("a100-cut")) if f.rule_id == "fabric.nccl-tests-rank"]
    assert old[0].fields["pci"] == "0000:1b:00.0"


def test_wrong_values_show_the_row() -> None:
    (finding,) = [f for f in findings(load("h100-8-wrong")) if f.rule_id not in CONTEXT]
    assert finding.fields["wrong"] == 17
    assert finding.fields["size"] == 536870912
    assert "Out of bounds values : 17 FAILED" in finding.evidence[0].text
    assert finding.host == "gpu-a001"


def test_out_of_bounds_alone_and_failed_minimum() -> None:
    text = load("h100-8").replace("Out of bounds values : 0 OK", "Out of bounds values : 3 FAILED")
    assert "fabric.nccl-tests-wrong-values" in {f.rule_id for f in findings(text)}
    text = load("h100-8").replace("336.0000 ", "336.0000 FAILED")
    assert "fabric.nccl-tests-below-minimum" in {f.rule_id for f in findings(text)}


def test_a_run_without_summary_is_noted() -> None:
    reading = READER.read(load("a100-cut").encode(), Source("x"), 0)
    assert any("no summary" in note for note in reading.notes)


def test_validation_switched_off() -> None:
    (run,) = find_runs(load("h100-8").replace("       0\n", "     N/A\n"))
    assert run.best is not None and run.best.wrong == 0


def test_inside_a_job_log() -> None:
    log = "".join(
        f"gpu-a001:91120:91120 [0] NCCL INFO Channel {i:02d}/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
        for i in range(90)
    )
    text = log + load("h100-8-wrong") + log
    assert not READER.recognise("x", text.encode())
    assert "fabric.nccl-tests-wrong-values" in {f.rule_id for f in findings_in(text, Source("x"), 0)}
    assert findings_in(log, Source("x"), 0) == ()


def ends_well(text: str) -> bool:
    return "fabric.nccl-tests-finished" in {f.rule_id for f in findings(text)}


@pytest.mark.parametrize(
    "name",
    [
        *(f"old-{p}" for p in ("all_reduce", "all_gather", "broadcast", "reduce", "alltoall", "scatter")),
        *(f"old-{p}" for p in ("sendrecv", "hypercube", "reduce_scatter")),
        *(f"new-gather{p}" for p in ("", "-stamped", "-iterations", "-one-direction")),
    ],
)
def test_columns_are_those_that_the_header_names(name: str) -> None:
    """Old programs have no root and print the largest difference; whole microseconds are no wrong values."""
    text = load(name)
    (run,) = find_runs(text)
    assert [row.size for row in run.rows] == [1048576, 67108864, 4294967296]
    assert run.best is not None and run.best.size == 4294967296
    assert run.best.algbw == pytest.approx(137.61, abs=0.1)
    assert all(row.wrong == 0 for row in run.rows)
    assert [f.rule_id for f in findings(text) if f.rule_id not in CONTEXT] == []
    assert ends_well(text)


@pytest.mark.parametrize(("name", "wrong"), [("old-all_reduce-wrong", 2), ("new-gather-wrong", 4194304)])
def test_wrong_values_of_both_eras(name: str, wrong: int) -> None:
    (finding,) = [f for f in findings(load(name)) if f.rule_id not in CONTEXT]
    assert finding.rule_id == "fabric.nccl-tests-wrong-values"
    assert finding.fields["wrong"] == pytest.approx(wrong, rel=1e-5)  # rows print six digits
    assert not ends_well(load(name))


def test_the_programs_own_count_decides() -> None:
    text = load("h100-8-wrong").replace("Out of bounds values : 17 FAILED", "Out of bounds values : 0 OK")
    assert [f.rule_id for f in findings(text) if f.rule_id not in CONTEXT] == []


def test_a_run_that_did_not_end_is_no_good_end() -> None:
    assert not ends_well(load("a100-cut"))
    assert not ends_well(load("h100-8") + load("a100-cut"))
