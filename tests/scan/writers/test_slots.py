"""The place where lines name their writer, learned from what varies there while the rest is the same."""

from __future__ import annotations

import json

import pytest

from triage.scan.writers.leads import learn, split


def stream(lines: list[str], line: str) -> str:
    return split(learn("\n".join(lines).encode()), line)[0].stream


def turns(form: str, names: list[str], rounds: int = 5) -> list[str]:
    return [form.format(name, k) for k in range(rounds) for name in names]


HOSTS = [f"ibis-{n}" for n in (4411, 4412, 4419, 4423)]
GRID = [f"dp{d} tp{t} pp{p}" for p in (0, 1) for d in (0, 1) for t in (0, 1)]


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("260101 10:00:0{1} {0} I round {1} done", HOSTS),
        ("10:00:0{1} {0}: round {1} done", GRID),
        ("10:00:0{1} I ({0}) round {1} done", ["d0,p0,t0", "d0,p0,t1", "d1,p0,t0", "d1,p0,t1"]),
        ("10:00:0{1} | east/{0} | round {1} done", ["A00", "A01", "B00", "B01"]),
        ("round {1} done ({0})", ["k1.731", "k1.735", "k1.744"]),
        ("INFO 10:00:0{1} [{0}] actor: round {1} done", ["8801", "8804", "8810"]),
    ],
)
def test_a_word_that_varies_over_equal_lines_names_the_writer(form: str, names: list[str]) -> None:
    lines = turns(form, names)
    for name in names:
        assert stream(lines, form.format(name, 9)) == f"own {name}"


def test_a_field_of_a_record_in_json_names_the_writer() -> None:
    lines = [
        json.dumps({"ts": 1.5 + k, "level": "info", "ctx": {"slot": n, "host": "q1"}, "event": f"wave {k}"})
        for k in range(4)
        for n in range(4)
    ]
    assert [stream(lines, line) for line in lines[:4]] == ["own 0", "own 1", "own 2", "own 3"]


def test_words_name_writers_that_have_said_which_of_all_they_are() -> None:
    names = ["alpha", "beta", "gamma", "delta"]
    lines = [f"22.11.2026 10:00:00 (i) {name}: stage {n} of 4 attached" for n, name in enumerate(names)]
    work = turns("22.11.2026 10:00:0{1} (i) {0}: frame {1} out", names)
    assert stream([*lines, *work], work[0]) == "own alpha"


@pytest.mark.parametrize(
    "lines",
    [
        [f"10:00:{k:02} layer q{k % 3}_proj loaded, {k} bytes" for k in range(30)],
        [f"10:00:{k:02} epoch {k // 6} step done" for k in range(30)],
        [f"10:00:{k:02} {('train', 'eval')[k % 2]} loss 0.{k}" for k in range(30)],
        [f"10:00:{k:02} {('INFO', 'DEBUG')[k % 2]} cache hit" for k in range(30)],
        [f"[10:{k // 9:02}:{k % 9 * 7:02}] ep{k // 9} b{k % 9 * 40:04} f1=0.{k}" for k in range(45)],
        [f"[10:00:{k % 12 * 5:02}] frame out" for k in range(60)],
        [f"metrics: throughput {k}.1 tokens/s, Running: {k * k % 5} reqs" for k in range(40)],
    ],
)
def test_counters_phases_parts_and_levels_name_nobody(lines: list[str]) -> None:
    assert learn("\n".join(lines).encode()).slot is None


def test_a_launcher_in_the_same_log_is_none_of_them() -> None:
    lines = [f"[launch] slot {n} is process {9000 + n}" for n in range(4)]
    lines += turns("{0} token {1} passed", ["9000", "9001", "9002", "9003"])
    assert stream(lines, "9002 giving up") == "own 9002"
    assert stream(lines, "[launch] process 9002 ended with 9") == ""


def test_numbers_of_different_things_name_no_writer() -> None:
    told = [
        f"I 10:00:{k:02} {who}:{line}] {what} {n} {rest}"
        for k in range(4)
        for who, line, what, n, rest in (
            ("feeder", 17, "slab", 5, "left out"),
            ("trainer", 18, "cycle", k, "half way"),
            ("feeder", 17, "slab", 22, "left out"),
            ("trainer", 18, "cycle", k, "at its end"),
        )
    ]
    assert {stream(told, line) for line in told} == {""}
