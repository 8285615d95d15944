"""The phrases that the formats for people share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from triage.model import CATEGORIES, OWNERS, RETRIES, Attempt, Diagnosis, Origin, SourceReport
from triage.report import words

from .diagnoses import hypothesis


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([], ""),
        ([3], "3"),
        ([1, 0], "0, 1"),
        ([0, 1, 2, 5, 4, 4], "0-2, 4, 5"),
        ([0, 1, 2, *range(4, 512)], "0-2, 4-511"),
        (range(0, 100, 2), "0, 2, 4, 6, 8, 10, 12 … (50 in all)"),
    ],
)
def test_ranks_are_ranges(values: list[int], shown: str) -> None:
    assert words.numbers(values) == shown


@pytest.mark.parametrize(
    ("origin", "shown"),
    [
        (Origin(), ""),
        (Origin(rank=2), "rank 2"),
        (Origin(rank=2, ranks=(2, 3), host="n1"), "ranks 2, 3 (n1)"),
        (Origin(rank=2, host="n1", gpu=4), "rank 2 (n1, GPU 4)"),
        (Origin(host="n1"), "n1"),
        (Origin(host="n1", pci_bus_id="0000:1b:00"), "n1 (GPU 0000:1b:00)"),
        (Origin(gpu=0), "GPU 0"),
    ],
)
def test_places(origin: Origin, shown: str) -> None:
    assert words.place(origin) == shown


def test_an_unknown_origin_is_said_to_be_unknown() -> None:
    assert "can't be localised" in words.origin_details(Origin())
    assert words.origin_details(Origin(time="2026-11-20T18:09:26")).endswith(", 2026-11-20 18:09:26")
    assert words.origin_details(Origin(host="n1")) == "n1 (the node, no single rank)"


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("category", CATEGORIES)
def test_who_acts_is_always_one_line_that_names_them(owner: str, category: str) -> None:
    h = hypothesis(owner=owner, category=category)
    assert words.who_acts(h).startswith(f"{owner}: ")
    assert "\n" not in words.who_acts(h)
    assert "n7" in words.who_acts(replace(h, nodes_to_avoid=("n7",)))


def test_every_retry_has_its_words() -> None:
    said = {words.requeue(hypothesis(retry=retry)) for retry in RETRIES}
    assert len(said) == len(RETRIES)
    assert words.requeue(hypothesis(retry="other-nodes", nodes_to_avoid=("a", "b"))) == (
        "on other nodes, avoid a, b"
    )


def test_confidence_is_a_number_and_a_word() -> None:
    assert [words.confidence(value) for value in (0.94, 0.6, 0.3)] == [
        "0.94 (high)",
        "0.60 (fair)",
        "0.30 (low)",
    ]


def test_periods_name_the_day_once() -> None:
    attempt = Attempt(1, "failed", None, "2026-11-20T17:00:02", "2026-11-20T18:09:24")
    assert words.period(attempt) == ", 2026-11-20 17:00:02 to 18:09:24"
    assert words.period(Attempt(1, "failed", None, "2026-11-20T17:00:02")) == ", 2026-11-20 17:00:02 to ?"
    assert words.period(Attempt(1, "failed", None)) == ""


def test_cascades_follow_the_chain_and_leave_out_what_others_explain(oom: Diagnosis) -> None:
    second = replace(oom.findings[1], rule_id="s.second", explained_by="torch.nccl-watchdog-timeout", count=1)
    foreign = replace(oom.findings[1], rule_id="s.foreign", explained_by="s.elsewhere")
    oom = replace(oom, findings=(*oom.findings, second, foreign))
    assert [group.rule_id for group in words.cascades(oom)] == [
        "torch.nccl-watchdog-timeout",
        "torch.elastic-closing-signal",
        "s.second",
    ]


@pytest.mark.parametrize(
    ("verdict", "completed", "shown"),
    [
        ("healthy", True, "the job ran to its end"),
        ("healthy", None, "nothing failed; the end was not seen"),
        ("healthy", False, "nothing failed, but it did not end"),
        ("inconclusive", None, "can't tell what happened"),
        ("failed", False, "the job failed, and nothing says why"),
    ],
)
def test_verdicts_without_a_cause(verdict: str, completed: bool | None, shown: str) -> None:
    assert words.headline(Diagnosis(verdict, completed, None)) == shown  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([], []),
        (["job.err"], ["job.err"]),
        (["/a/b/job.err"], ["job.err"]),
        (["/a/b/0/x", "/a/b/1/x"], ["0/x", "1/x"]),
        (["/a/x", "b/x"], ["/a/x", "b/x"]),
        (["a/x", "x"], ["a/x", "x"]),
    ],
)
def test_names_without_their_common_directories(names: list[str], shown: list[str]) -> None:
    sources = tuple(SourceReport(name, "log") for name in names)
    short = words.short_names(Diagnosis("healthy", True, None, sources=sources))
    assert [short[name] for name in names] == shown
