"""The report for people: golden pages, widths, colour, and hostile text.

The golden files are what a terminal shows. Read them by eye whenever they change.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Diagnosis, Evidence, Origin, SourceReport, Step
from triage.report.layout import breaks, cells, cut
from triage.report.terminal import render

from . import diagnoses
from .diagnoses import TOKEN

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = ["oom", "hardware", "large", "healthy", "inconclusive", "hostile"]

PAGES = [
    ("oom", "oom.txt", {}),
    ("hardware", "hardware.txt", {}),
    ("large", "large-explain.txt", {"explain": True}),
    ("healthy", "healthy.txt", {}),
    ("inconclusive", "inconclusive.txt", {}),
    ("oom", "oom-everything.txt", {"explain": True, "verbose": True}),
    ("oom", "oom-60.txt", {"width": 60}),
]


@pytest.mark.parametrize(("name", "file", "options"), PAGES, ids=[file for _, file, _ in PAGES])
def test_the_page_is_as_reviewed(
    name: str, file: str, options: dict[str, bool | int], request: pytest.FixtureRequest
) -> None:
    shown = render(request.getfixturevalue(name), **options)  # type: ignore[arg-type]
    assert shown + "\n" == (GOLDEN / file).read_text("utf-8")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_only_commands_and_references_are_wider_than_the_page(
    name: str, width: int, request: pytest.FixtureRequest
) -> None:
    diagnosis: Diagnosis = request.getfixturevalue(name)
    root = diagnosis.root_cause
    steps = (*(root.remediation if root else ()), *(s for w in diagnosis.warnings for s in w.remediation))
    copied = [str(step.run) for step in steps] + list(root.references if root else ())
    for line in render(diagnosis, width=width, verbose=True, explain=True).split("\n"):
        assert line == line.rstrip()
        unwrapped = line.strip() in copied or "[bold red]boo" in line
        assert cells(line) <= width or unwrapped


@pytest.mark.parametrize("name", SAMPLES)
def test_colour_changes_nothing_but_the_colour(name: str, request: pytest.FixtureRequest) -> None:
    diagnosis = request.getfixturevalue(name)
    plain = render(diagnosis, verbose=True, explain=True)
    colored = render(diagnosis, verbose=True, explain=True, color=True)
    assert "\x1b" not in plain
    stripped = re.sub(r"\x1b\[[0-9;]+m", "", colored)
    assert "\x1b" not in stripped
    underlines = re.compile(r"^ *\^+$\n?", re.MULTILINE)
    assert stripped.split() == underlines.sub("", plain).split()


def test_the_decisive_words_are_marked_in_colour(healthy: Diagnosis) -> None:
    assert "step 4000 \x1b[1;31mloss nan\x1b[0m lr 1e-4" in render(healthy, color=True)


def test_markup_and_escapes_of_a_log_stay_text(hostile: Diagnosis) -> None:
    shown = render(hostile, verbose=True, explain=True)
    assert "[bold red]boo[/bold red]" in shown
    assert "owned" not in shown
    assert "\u202e" not in shown
    assert TOKEN[:12] not in shown
    assert max(map(len, shown.split("\n"))) < 300


def test_a_cause_that_is_nowhere_in_particular(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    shown = render(replace(oom, root_cause=replace(oom.root_cause, origin=Origin())))
    assert "FAILED  gpu-oom: rank 2 asked" in shown
    assert "Origin      can't be localised: the logs single out no rank, node or GPU" in shown


def test_commands_are_whole_and_alone_on_their_lines(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    command = "export A=1\n" + "python train.py " + "--flag value " * 30 + "--last"
    root = replace(oom.root_cause, remediation=(Step("Do it", command),))
    lines = render(replace(oom, root_cause=root), width=60).split("\n")
    for line in command.split("\n"):
        assert "       " + line in lines


def test_a_traceback_without_a_decisive_part_ends_in_its_exception(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    text = "Traceback (most recent call last):\n" + '  File "x.py", line 1, in f\n' * 30 + "KeyError: 'label'"
    root = replace(oom.root_cause, evidence=(Evidence("a.err", 7, text),))
    shown = render(replace(oom, root_cause=root))
    assert "    Traceback (most recent call last):\n    … 24 more rows\n" in shown
    assert "    KeyError: 'label'\n\n" in shown
    assert shown.count("x.py") == 6
    assert render(replace(oom, root_cause=root), verbose=True).count("x.py") == 30


def test_a_long_line_is_shown_around_what_decides(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    text = "[rank1]: start " + "before " * 200 + "DECISIVE " + "after " * 200
    start = text.index("DECISIVE")
    piece = Evidence("a.err", 7, text, span=(start, start + 8))
    shown = render(replace(oom, root_cause=replace(oom.root_cause, evidence=(piece,))))
    assert "[rank1]: start" in shown
    assert re.search(r"DECISIVE after.*\n +\^{8}\n", shown)
    assert shown.count(" more rows") == 2


def test_what_is_left_out_is_counted(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    pieces = tuple(Evidence("a.err", n, f"line {n}") for n in range(1, 6))
    groups = tuple(replace(oom.findings[1], rule_id=f"s.{n}") for n in range(9))
    many = replace(
        oom, root_cause=replace(oom.root_cause, evidence=pieces), findings=groups,
        alternatives=oom.alternatives * 5,
    )  # fmt: skip
    shown = render(many)
    assert "  … 1 more piece of evidence (--verbose)" in shown
    assert "  … 3 more kinds of message (--verbose)" in shown
    assert "  … 2 more candidates (--verbose)" in shown
    assert "--verbose" not in render(many, verbose=True)


def test_missing_sources_are_never_silent(healthy: Diagnosis, inconclusive: Diagnosis) -> None:
    cut_short = replace(healthy, sources=(SourceReport("a.gz", "log", complete=False),))
    assert "  - not read to the end: a.gz" in render(cut_short)
    assert "  - job.err.gz: gzip stream ends early" in render(inconclusive)
    assert "nothing in the input says how the job went" in render(Diagnosis("inconclusive", None, None))


def test_a_ledger_of_many_ranks_is_a_few_rows(large: Diagnosis) -> None:
    narrow = render(large, width=60, explain=True)
    assert "  0-36, 38-511  timed-out  ALLGATHER_BASE" in narrow
    assert "  37 *          seen       BROADCAST" in narrow


@pytest.mark.parametrize(
    ("text", "first", "rest", "rows"),
    [
        ("", 10, 10, [""]),
        ("one two three", 7, 7, ["one two", "three"]),
        ("one two three", 3, 9, ["one", "two three"]),
        ("  keep indent", 9, 9, ["  keep", "indent"]),
        ("abcdefghij", 4, 3, ["abcd", "efg", "hij"]),
        ("日本語日本語", 4, 4, ["日本", "語日", "本語"]),
        ("a  b   ", 2, 2, ["a", "b"]),
    ],
)
def test_wrapping(text: str, first: int, rest: int, rows: list[str]) -> None:
    assert [text[a:b] for a, b in breaks(text, first, rest)] == rows


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("ab 日\u0301"), max_size=60), st.integers(2, 20), st.integers(2, 20))
def test_wrapping_loses_only_spaces_and_keeps_the_width(text: str, first: int, rest: int) -> None:
    rows = [text[a:b] for a, b in breaks(text, first, rest)]
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")
    assert all(cells(row) <= (rest if number else first) for number, row in enumerate(rows))


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=60), st.integers(3, 20))
def test_cutting_keeps_the_width(text: str, width: int) -> None:
    assert cells(cut(text, width)) <= width


@settings(max_examples=50, deadline=None)
@given(
    st.text(st.characters(), max_size=200),
    st.none() | st.tuples(st.integers(-5, 250), st.integers(-5, 250)),
    st.integers(1, 130),
    st.booleans(),
)
def test_any_evidence_is_shown(text: str, span: tuple[int, int] | None, width: int, color: bool) -> None:
    oom = diagnoses.oom()
    assert oom.root_cause is not None
    root = replace(oom.root_cause, evidence=(Evidence(text, 1, text, span=span),), summary=text)
    shown = render(replace(oom, root_cause=root), width=width, color=color, verbose=True)
    assert "What to do" in shown


def test_of_a_long_match_only_its_first_clauses_are_underlined(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    text = (
        "[rank1]: RuntimeError: Detected mismatch between collectives on ranks. " + "Rank 0 is running x " * 9
    )
    piece = Evidence("a.err", 7, text, span=(23, len(text)))
    shown = render(replace(oom, root_cause=replace(oom.root_cause, evidence=(piece,))), width=120)
    underlines = [line for line in shown.split("\n") if set(line.strip()) == {"^"}]
    assert len(underlines) == 1
    assert underlines[0].index("^") == 4 + 23
    assert len(underlines[0].strip()) == len("Detected mismatch between collectives on ranks")


def test_nothing_is_underlined_when_all_of_it_decides(oom: Diagnosis) -> None:
    assert oom.root_cause is not None
    piece = Evidence("a.err", 7, "Killed\n", span=(0, 6))
    assert "^" not in render(replace(oom, root_cause=replace(oom.root_cause, evidence=(piece,))))


def test_equal_events_in_a_row_are_one_entry_of_the_timeline(oom: Diagnosis) -> None:
    event = oom.timeline[1]
    events = (
        oom.timeline[0],
        *(event._replace(rank=rank) for rank in (0, 1, 3)),
        *(event._replace(rank=5),) * 2,
    )
    assert "ranks 0, 1, 3, 5: the first NCCL watchdog timeout, of 14 (5 ×)" in render(
        replace(oom, timeline=events), explain=True, width=120
    )


def test_a_long_timeline_loses_its_middle(oom: Diagnosis) -> None:
    events = tuple(oom.timeline[0]._replace(what=f"event {n}") for n in range(100))
    shown = render(replace(oom, timeline=events), explain=True)
    assert "event 19 " in shown
    assert "event 20 " not in shown
    assert "… 60 more between" in shown
    assert "event 80 " in shown
