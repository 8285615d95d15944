from __future__ import annotations

from pathlib import Path

import pytest

from triage.model import Finding, Source
from triage.readers.pyspy import PyspyReader, combine, findings_in

DATA = Path(__file__).parent / "data" / "pyspy"
READER = PyspyReader()


def findings(name: str) -> list[Finding]:
    data = (DATA / name).read_bytes()
    assert READER.recognise("x", data)
    return list(READER.read(data, Source("x"), 0).findings)


def test_where_a_process_is() -> None:
    (fact,) = findings("one.txt")
    assert (fact.pid, fact.fields["activity"], fact.fields["state"]) == (4001, "collective", "active")
    assert (fact.fields["function"], fact.fields["file"], fact.fields["line"]) == (
        "sync_gradients",
        "train.py",
        88,
    )
    assert fact.fields["threads"] == 2
    (same,) = findings("one.json")
    assert (same.fields["activity"], same.fields["file"], same.fields["line"]) == (
        "collective",
        "train.py",
        88,
    )


@pytest.mark.parametrize(
    ("name", "rule", "pid"),
    [
        ("four-one-elsewhere.txt", "python.stack-elsewhere", 4002),
        ("four-one-loading.txt", "python.stack-in-data-loader", 4003),
        ("four-other-collective.txt", "python.stack-other-collective", 4004),
    ],
)
def test_the_process_that_is_not_where_the_others_are(name: str, rule: str, pid: int) -> None:
    odd = [f for f in findings(name) if f.rule_id != "python.stack"]
    assert [(f.rule_id, f.pid) for f in odd] == [(rule, pid)]
    assert odd[0].fields["waiting"] == 3
    assert "train.py" in odd[0].evidence[0].text


def test_dumps_of_several_ranks_are_compared() -> None:
    parts = (DATA / "four-one-elsewhere.txt").read_text().split("Process ")[1:]
    readings = [
        READER.read(f"Process {part}".encode(), Source(f"rank{rank}.txt", rank=rank), rank)
        for rank, part in enumerate(parts)
    ]
    assert all(len(reading.findings) == 1 for reading in readings)
    (odd,) = combine(readings)
    assert (odd.rule_id, odd.rank, odd.fields["rank"]) == ("python.stack-elsewhere", 1, 1)
    assert combine(readings[:1]) == ()


def test_everybody_in_the_same_place_says_nothing() -> None:
    text = (DATA / "one.txt").read_text()
    found = READER.read((text + text.replace("4001", "4002")).encode(), Source("x"), 0).findings
    assert {f.rule_id for f in found} == {"python.stack"}


def test_inside_a_log() -> None:
    log = "[2025-08-06 17:18:12 TP0] Decode batch. #running-req: 91\n" * 100
    text = log + (DATA / "four-one-loading.txt").read_text() + log
    assert not READER.recognise("x", text.encode())
    assert "python.stack-in-data-loader" in {f.rule_id for f in findings_in(text, Source("x"), 0)}
    assert findings_in(log, Source("x"), 0) == ()


def test_cut_json_is_noted() -> None:
    reading = READER.read((DATA / "one.json").read_bytes()[:200], Source("x"), 0)
    assert reading.notes and not reading.complete


def _scheduler(rank: int, *frames: str, lead: str = "") -> str:
    shown = [
        f"Process {9000 + rank}: sglang::scheduler_TP{rank}_EP{rank}",
        "Python v3.12.11 (/usr/bin/python3.12)",
        "",
        f'Thread {9000 + rank} (active): "MainThread"',
        *(f"    {frame}" for frame in frames),
        f'Thread {9100 + rank} (idle): "Thread-2 (watchdog_thread)"',
        "    communicate (subprocess.py:1209)",
    ]
    return "".join(f"{lead}{line}\n" for line in shown)


@pytest.mark.parametrize("lead", ["", "sglang-1  | ", "(SGLangEngine pid=88, ip=10.0.0.4) "])
def test_schedulers_that_dump_their_own_stacks(lead: str) -> None:
    waits = ("all_reduce (custom_all_reduce.py:310)", "run_batch (scheduler.py:2148)")
    gloo = ("c10d::ProcessGroupGloo::RecvWork::wait (libtorch_cpu.so)", "recv_requests (scheduler.py:980)")
    if lead:
        gloo = waits  # who prints a dump shows nothing of native code
    builds = (
        "run (subprocess.py:550)",
        "build (deep_gemm/jit/compiler.py:151)",
        "run_batch (scheduler.py:2148)",
    )
    dumps = [_scheduler(r, *(builds if r == 2 else gloo if r == 1 else waits), lead=lead) for r in range(4)]
    odd = [f for f in findings_in("".join(dumps), Source("x"), 0) if f.rule_id != "python.stack"]
    assert [(f.rule_id, f.rank, f.fields["waiting"]) for f in odd] == [("python.stack-in-compiler", 2, 3)]
    assert odd[0].labels == (("TP", 2), ("EP", 2))


def test_the_thread_that_runs_the_model() -> None:
    text = _scheduler(0, "wait (threading.py:359)") + (
        'Thread 9200 (idle): "Thread-3 (forward_thread_func)"\n    all_reduce (custom_all_reduce.py:310)\n'
    )
    (fact,) = findings_in(text, Source("x"), 0)
    assert (fact.fields["activity"], fact.rank) == ("collective", 0)
